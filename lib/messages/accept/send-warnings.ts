import { undelivered } from '../../pricing/undelivered.ts';
import type { Recipient } from '../job.ts';
import { duplicatesWarning, repeatedWarning } from '../request/duplicates.ts';
import { destinationOf } from '../request/recipient-address.ts';
import type { ResolvedTemplate } from '../resolve/resolve-template.ts';
import type { Timetable } from '../when/timetable.ts';
import { type Redirected, redirectedWarning } from './replaced-ids.ts';

export interface Warned {
  readonly resolved: ResolvedTemplate;
  readonly askedLanguage: string;
  readonly campaignId: number | undefined;
  readonly redirected: readonly Redirected[];
  readonly droppedIndexes: readonly number[];
  readonly recipients: readonly Pick<Recipient, 'to'>[];
  /** The DID is a channel of another client of the WABA (D5). */
  readonly foreignDid: string | undefined;
  readonly timetable?: Timetable | undefined;
}

/** Returns the `warning` of an accepted send: one sentence per matter, joined with "; " (D26). */
export function warningOf({
  resolved,
  askedLanguage,
  campaignId,
  redirected,
  droppedIndexes,
  recipients,
  foreignDid,
  timetable,
}: Warned): string | undefined {
  const { template, client, storedCopyUsed } = resolved;
  const assigned = client?.documents.some(({ pair }) => pair?.campaignId === campaignId) ?? false;
  const sentences = [
    campaignId === undefined || assigned
      ? undefined
      : `campaign ${campaignId} is not among the template's assignments for this client`,
    askedLanguage === template.language
      ? undefined
      : `language ${askedLanguage} was taken for the template's ${template.language}`,
    redirectedWarning(redirected),
    duplicatesWarning(droppedIndexes),
    repeatedWarning(recipients),
    ...undeliveredWarnings(template.category, recipients),
    storedCopyUsed ? 'the platform could not be reached, the stored copy of the template was used' : undefined,
    foreignDid === undefined ? undefined : `the did ${foreignDid} is a channel of another client of the WABA`,
    timetable && neverWarning(timetable),
  ];
  const given = sentences.filter((sentence) => sentence !== undefined);
  return given.length === 0 ? undefined : given.join('; ');
}

/** Some recipients' hours begin after the time to live, which counts from the first moment of any recipient (D56). */
function neverWarning({ zones, lastCallMs }: Timetable): string | undefined {
  const never = zones.filter(({ open }) => open.length === 0);
  if (never.length === 0) return undefined;
  const count = never.reduce((sum, { members }) => sum + members.length, 0);
  const opensMs = Math.min(...never.map(({ firstMs }) => firstMs));
  const [last, opens] = [lastCallMs, opensMs].map((ms) => new Date(ms).toISOString());
  return `${count} of the recipients may never be called within its time to live, which ends at ${last}, the first of them at ${opens}: they end as expired`;
}

/** The platform takes such messages and fails them later (131049), free of charge. */
function undeliveredWarnings(category: string, recipients: Warned['recipients']): string[] {
  const destinations = recipients.map(({ to }) => destinationOf(to));
  return undelivered(category, destinations).map(
    ({ market, since, recipients: count }) =>
      `since ${since} the platform delivers no marketing to ${market}: ${count} of the recipients will not get it`,
  );
}
