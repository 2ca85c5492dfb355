/** Most keys of one BatchGetItem and most actions of one TransactWriteItems (DynamoDB). */
export const maxBatchKeys = 100;
export const maxTransactionActions = 100;
