/** What the jobs of a client on one number want of the workers, and until when that was said. */
export interface WorkerDemand {
  readonly clientId: number;
  readonly phoneNumberId: string;
  readonly perSecond: number;
  readonly untilMs: number;
}

/** Where demands are told. */
export interface WorkerDemands {
  /** Replaces what the client wanted on that number; returns what all want, with those whose time is over left out. */
  readonly tell: (demand: WorkerDemand, nowMs: number) => Promise<readonly WorkerDemand[]>;
}

/**
 * Max-min fair shares (D45): nobody gets more than it wants, what one leaves goes to the others in equal parts, and who
 * gets less than it wants gets as much as anybody. In the order of the demands.
 */
export function fairShares(capacityPerSecond: number, demands: readonly number[]): number[] {
  const shares = demands.map(() => 0);
  const modestFirst = [...demands.entries()].toSorted(([, one], [, other]) => one - other);
  let left = Math.max(0, capacityPerSecond);
  for (const [at, [index, demand]] of modestFirst.entries()) {
    const share = Math.min(Math.max(0, demand), left / (modestFirst.length - at));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/**
 * What a client may use of the workers on one number, a second: shares are fair between the clients first, then between
 * the numbers of the client. A client alone gets all it wants, up to the capacity.
 */
export function workerShare(
  capacityPerSecond: number,
  demands: readonly WorkerDemand[],
  { clientId, phoneNumberId }: Pick<WorkerDemand, 'clientId' | 'phoneNumberId'>,
): number {
  const clients = [...Map.groupBy(demands, (demand) => demand.clientId)];
  const wanted = clients.map(([, own]) => own.reduce((sum, { perSecond }) => sum + perSecond, 0));
  const client = clients.findIndex(([id]) => id === clientId);
  const own = clients[client]?.[1] ?? [];
  const shares = fairShares(
    fairShares(capacityPerSecond, wanted)[client] ?? 0,
    own.map(({ perSecond }) => perSecond),
  );
  return shares[own.findIndex((demand) => demand.phoneNumberId === phoneNumberId)] ?? 0;
}
