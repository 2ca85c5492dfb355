export const maxBatchKeys = 100;
export const maxBatchWrites = 25;
export const maxTransactionActions = 100;
