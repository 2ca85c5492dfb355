/** Tests that are not about the cost of messages use it (D58). */
export const noCosts = {
  countCost: async () => undefined,
  countEnded: async () => undefined,
  countNow: async () => undefined,
  budgets: { release: async () => undefined },
  costStop: async () => undefined,
  spend: { countLater: async () => undefined, count: async () => undefined },
};
