/** What the platform says of a number, as last read (lib/channels/channel.ts). */
interface NumberWord {
  readonly throughputLevel?: string | undefined;
  readonly isOnBizApp?: boolean | undefined;
}

/** Messages a second by level (FACTS, throughput). */
const perSecondByLevel: ReadonlyMap<string, number> = new Map([
  ['HIGH', 1_000],
  ['STANDARD', 80],
]);

/** A number that a person uses with the business app, too. */
const sharedWithApp = 20;

const standardPerSecond = 80;

/** Messages a second that a number may send (D43): as the platform says, else as provisioned, else as most may. */
export function limitPerSecondOf(word: NumberWord | undefined, provisionedPerSecond: number | undefined): number {
  if (word?.isOnBizApp === true) return sharedWithApp;
  const known = perSecondByLevel.get(word?.throughputLevel ?? '');
  if (known !== undefined) return known;
  return provisionedPerSecond !== undefined && provisionedPerSecond > 0 ? provisionedPerSecond : standardPerSecond;
}
