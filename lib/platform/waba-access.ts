/** The WABA to ask about, and the name of the credential that may. */
export interface WabaAccess {
  readonly wabaId: string;
  readonly credential: string;
}
