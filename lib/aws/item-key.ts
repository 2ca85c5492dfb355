export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}
