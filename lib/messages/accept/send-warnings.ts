import { mayBeUndelivered, undelivered } from '../../pricing/undelivered.ts';
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
  if (!mayBeUndelivered(category)) return [];
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
  const look: Look = (value, place, isSuffix = false) => {
    if (placeholder.test(value)) unfilled.add(place);
    if (invisible.test(value)) unseen.add(place);
    if (isSuffix && wholeUrl.test(value)) urls.add(place);
  };
  lookAtHeader(header, look);
  for (const [index, { params }] of recipients.entries()) {
    if (params !== undefined) lookAtParams(params, contract, () => `recipients[${index}].params`, look);
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

/** Most of ten thousand places are never told, so none is spelled before. */
type Place = () => string;

/** A suffix is appended to the URL of a button. */
type Look = (value: string, place: Place, isSuffix?: boolean) => void;

class Counted {
  #count = 0;
  #first = '';

  add(place: Place): void {
    if (this.#count === 0) this.#first = place();
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

function lookAtHeader(header: SendRequest['header'], look: Look): void {
  if (header === undefined) return;
  const { value, filename } = header.type === 'location' ? {} : header;
  const { name, address } = header.type === 'location' ? header.location : {};
  const given = { value, filename, 'location.name': name, 'location.address': address };
  for (const [field, text] of Object.entries(given)) {
    if (text !== undefined) look(text, () => `component.header.${field}`);
  }
}

function lookAtParams(
  { header, body, buttons, cards = [], products = [] }: NonNullable<Recipient['params']>,
  contract: Pick<ParameterContract, 'buttons' | 'cards'>,
  place: Place,
  look: Look,
): void {
  lookAtValues(header, () => `${place()}.header`, look);
  lookAtValues(body, () => `${place()}.body`, look);
  lookAtValues(buttons, () => `${place()}.buttons`, look, contract.buttons);
  for (const [index, card] of cards.entries()) {
    const cardPlace = () => `${place()}.cards[${index}]`;
    lookAtValues(card.body, () => `${cardPlace()}.body`, look);
    lookAtValues(card.buttons, () => `${cardPlace()}.buttons`, look, contract.cards[index]?.buttons);
  }
  for (const [index, { action }] of products.entries()) {
    for (const [at, { title }] of (action.sections ?? []).entries()) {
      look(title, () => `${place()}.products[${index}].action.sections[${at}].title`);
    }
  }
}

function lookAtValues(
  values: readonly string[] = [],
  place: Place,
  look: Look,
  buttons: readonly DynamicButton[] = [],
): void {
  for (const [index, value] of values.entries()) {
    look(value, () => `${place()}[${index}]`, buttons[index]?.kind === 'url');
  }
}
