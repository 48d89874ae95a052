"""Published predictors, written anew from their papers' ideas, one module each."""
