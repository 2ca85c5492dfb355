/** The key of an item in a table with a sort key. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}
