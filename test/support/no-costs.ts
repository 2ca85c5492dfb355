/** Where what messages cost is of no interest (D58). */
export const noCosts = {
  countCost: async () => undefined,
  countEnded: async () => undefined,
  spend: { countLater: async () => undefined, count: async () => undefined },
};
