import { undelivered } from '../../pricing/undelivered.ts';
import type { Recipient } from '../dispatch/head.ts';
import { duplicatesWarning, repeatedWarning } from '../request/duplicates.ts';
import type { DynamicButton, ParameterContract } from '../request/parameter-contract.ts';
import { destinationOf } from '../request/recipient-address.ts';
import type { SendRequest } from '../request/send-request.ts';
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
  /** Its places are those that the client knows. */
  readonly request: Pick<SendRequest, 'recipients' | 'header'>;
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
  request,
  foreignDid,
  timetable,
}: Warned): string | undefined {
  const { template, contract, client, storedCopyUsed } = resolved;
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
    ...valueWarnings(request, contract),
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

/** Software leaves one of these where it found no value. */
const placeholder =
  /\{\{[^{}]*\}\}|\$\{[^{}]*\}|\[\[[^[\]]*\]\]|<%[^%]*%>|\*\|[^|]*\|\*|^(?:\{\w+\}|%\w+%|undefined|null|NaN|\[object Object\])$/;
const invisible = /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+$/u;
const wholeUrl = /^\s*[a-z][a-z\d+.-]*:\/\//i;

/** These values are sent as they are. Each matter has one sentence, with a count and the first place (D26). */
function valueWarnings({ recipients, header }: Warned['request'], contract: ParameterContract): string[] {
  const unfilled = new Counted();
  const unseen = new Counted();
  const urls = new Counted();
  const look = ({ path, value, isSuffix }: GivenValue) => {
    if (placeholder.test(value)) unfilled.add(path);
    if (invisible.test(value)) unseen.add(path);
    if (isSuffix === true && wholeUrl.test(value)) urls.add(path);
  };
  for (const value of valuesOfHeader(header)) look(value);
  for (const [index, { params }] of recipients.entries()) {
    if (params === undefined) continue;
    for (const value of valuesOf(params, contract, `recipients[${index}].params`)) look(value);
  }
  return [
    ...unfilled.told('looks like an unfilled placeholder', 'look like unfilled placeholders'),
    ...unseen.told('has only invisible characters', 'have only invisible characters'),
    ...urls.told(
      'is a whole URL that is appended to the URL of its button',
      'are whole URLs that are appended to the URL of their button',
    ),
  ];
}

interface GivenValue {
  readonly path: string;
  readonly value: string;
  /** The value is appended to the URL of a button. */
  readonly isSuffix?: boolean;
}

class Counted {
  #count = 0;
  #first = '';

  add(path: string): void {
    if (this.#count === 0) this.#first = path;
    this.#count += 1;
  }

  /** Returns a sentence, or nothing when none was counted. */
  told(one: string, many: string): string[] {
    if (this.#count === 0) return [];
    return [
      this.#count === 1 ? `1 value ${one}: ${this.#first}` : `${this.#count} values ${many}, first ${this.#first}`,
    ];
  }
}

function valuesOfHeader(header: SendRequest['header']): GivenValue[] {
  if (header === undefined) return [];
  const { value, filename } = header.type === 'location' ? {} : header;
  const { name, address } = header.type === 'location' ? header.location : {};
  const given = { value, filename, 'location.name': name, 'location.address': address };
  return Object.entries(given).flatMap(([field, text]) =>
    text === undefined ? [] : [{ path: `component.header.${field}`, value: text }],
  );
}

function* valuesOf(
  { header, body, buttons, cards = [], products = [] }: NonNullable<Recipient['params']>,
  contract: Pick<ParameterContract, 'buttons' | 'cards'>,
  path: string,
): Generator<GivenValue> {
  yield* valuesIn(header, `${path}.header`);
  yield* valuesIn(body, `${path}.body`);
  yield* valuesIn(buttons, `${path}.buttons`, contract.buttons);
  for (const [index, card] of cards.entries()) {
    yield* valuesIn(card.body, `${path}.cards[${index}].body`);
    yield* valuesIn(card.buttons, `${path}.cards[${index}].buttons`, contract.cards[index]?.buttons);
  }
  for (const [index, { action }] of products.entries()) {
    const titles = (action.sections ?? []).map(({ title }) => title);
    for (const [at, value] of titles.entries()) {
      yield { path: `${path}.products[${index}].action.sections[${at}].title`, value };
    }
  }
}

function* valuesIn(
  values: readonly string[] = [],
  path: string,
  buttons: readonly DynamicButton[] = [],
): Generator<GivenValue> {
  for (const [index, value] of values.entries()) {
    yield { path: `${path}[${index}]`, value, isSuffix: buttons[index]?.kind === 'url' };
  }
}
