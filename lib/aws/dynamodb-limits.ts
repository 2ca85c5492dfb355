/** Most keys of one BatchGetItem, most items of one BatchWriteItem, and most actions of one TransactWriteItems (DynamoDB). */
export const maxBatchKeys = 100;
export const maxBatchWrites = 25;
export const maxTransactionActions = 100;
