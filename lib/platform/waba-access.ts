/** The WABA to ask about, and the name of its credential. */
export interface WabaAccess {
  readonly wabaId: string;
  readonly credential: string;
}
