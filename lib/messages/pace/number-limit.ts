/** The platform last reported this about a number (lib/channels/channel.ts). */
interface NumberWord {
  readonly throughputLevel?: string | undefined;
  readonly isOnBizApp?: boolean | undefined;
}

/** Each level allows this many messages a second (FACTS, throughput). */
const perSecondByLevel: ReadonlyMap<string, number> = new Map([
  ['HIGH', 1_000],
  ['STANDARD', 80],
]);

/** A number that is also used in the business app has this limit. */
const sharedWithApp = 20;

const standardPerSecond = 80;

/**
 * Returns messages a second of a number (D43): as the platform reports, else as provisioned, else the standard level.
 */
export function limitPerSecondOf(word: NumberWord | undefined, provisionedPerSecond: number | undefined): number {
  if (word?.isOnBizApp === true) return sharedWithApp;
  const known = perSecondByLevel.get(word?.throughputLevel ?? '');
  if (known !== undefined) return known;
  return provisionedPerSecond !== undefined && provisionedPerSecond > 0 ? provisionedPerSecond : standardPerSecond;
}
