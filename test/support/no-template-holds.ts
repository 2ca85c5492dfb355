/** Tests that are not about what waits for a template use it (D46). */
export const noTemplateHolds = {
  heedWord: async () => undefined,
  heedReadings: async () => undefined,
};

/** An edit holds nothing, and no dispatch of its client is open. */
export const nothingWaits = {
  templateHolds: noTemplateHolds,
  open: { dispatches: { readAccepted: async () => ({ accepted: [] }) }, standings: { of: async () => [] } },
};
