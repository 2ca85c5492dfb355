/** A call asks about this WABA, with the credential of this name. */
export interface WabaAccess {
  readonly wabaId: string;
  readonly credential: string;
}
