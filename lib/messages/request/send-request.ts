import * as v from 'valibot';
import { DidSchema } from '../../access/did.ts';
import { ClientIdJson } from '../../access/operating-client.ts';
import { boundedList, closedObject, openObject } from '../../http/closed-object.ts';
import { documentedAs } from '../../http/documented.ts';
import { FaultList } from '../../http/fault-list.ts';
import { butReceived } from '../../http/json-excerpt.ts';
import { faultOf, faultWithin } from '../../http/parse.ts';
import { Refusal } from '../../http/refusal.ts';
import { type HeaderInput, mediaHeaderTypes, type Recipient } from '../dispatch/head.ts';
import { isPlainRecipient, maxValueLength, maxValues } from './plain-recipient.ts';
import { addressForm, addressFormText, addressHint } from './recipient-address.ts';

const maxRecipients = 10_000;
const maxAttendsBytes = 4_096;

const text = v.pipe(v.string(), v.maxLength(maxValueLength));
const filledText = v.pipe(text, v.nonEmpty('must not be empty'));
const wholeNumber = v.pipe(v.number(), v.safeInteger(butReceived('must be a whole number below 2^53')));
const positiveId = v.pipe(wholeNumber, v.minValue(1));

const ToSchema = v.pipe(
  v.string(),
  v.regex(addressForm, (issue) => `${butReceived(addressFormText)(issue)}${addressHint(issue.input)}`),
);

const CardSchema = closedObject({
  body: v.optional(boundedList(text, maxValues.body)),
  buttons: v.optional(boundedList(text, maxValues.buttons)),
});

const SectionSchema = closedObject({
  title: text,
  product_items: boundedList(closedObject({ product_retailer_id: filledText }), 100),
});

const ProductSchema = closedObject({
  type: v.literal('action'),
  action: closedObject({
    thumbnailProductRetailerId: filledText,
    sections: v.optional(boundedList(SectionSchema, 20)),
  }),
});

export const ParamsSchema = closedObject({
  header: v.optional(boundedList(text, maxValues.header)),
  body: v.optional(boundedList(text, maxValues.body)),
  buttons: v.optional(boundedList(text, maxValues.buttons)),
  products: v.optional(boundedList(ProductSchema, 10)),
  cards: v.optional(boundedList(CardSchema, 20)),
});

export const RecipientSchema = closedObject({ to: ToSchema, params: v.optional(ParamsSchema) });

const degrees = (limit: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[-+]?\d{1,3}(\.\d{1,20})?$/, butReceived('must be decimal degrees as text')),
    v.check((value) => Math.abs(Number(value)) <= limit, butReceived(`must be between -${limit} and ${limit}`)),
  );

const MediaHeaderSchema = closedObject({
  type: v.picklist(mediaHeaderTypes),
  value: filledText,
  filename: v.optional(v.pipe(filledText, v.maxLength(255))),
});

const LocationHeaderSchema = closedObject({
  type: v.literal('location'),
  location: closedObject({
    latitude: degrees(90),
    longitude: degrees(180),
    name: v.pipe(filledText, v.maxLength(1_000)),
    address: v.pipe(filledText, v.maxLength(1_000)),
  }),
});

/** `type` chooses the schema, so that faults fit the intended shape. */
const HeaderSchema = v.pipe(
  v.lazy((input) =>
    (input as { type?: unknown } | null)?.type === 'location' ? LocationHeaderSchema : MediaHeaderSchema,
  ),
  documentedAs(() => v.union([MediaHeaderSchema, LocationHeaderSchema])),
);

const AttendsSchema = v.pipe(openObject, v.check(fitsItsPlace, `must have at most ${maxAttendsBytes} bytes of JSON`));

function fitsItsPlace(attends: Record<string, unknown>): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(attends)) <= maxAttendsBytes;
  } catch {
    // Parsed JSON cannot be written again only if it nests too deeply for the stack.
    return false;
  }
}

/** Recipients are parsed one by one: 10,000 of them may have 10,000 faults each. */
export const MessagesSendBody = closedObject({
  did: v.pipe(DidSchema, v.maxLength(64)),
  type: v.literal('template'),
  channel: v.literal('MESSAGING'),
  template: closedObject({
    name: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(512)),
    language: v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(32)),
  }),
  recipients: v.pipe(
    v.array(v.unknown()),
    v.minLength(1, 'must have at least 1 item, received 0'),
    v.check(
      (list) => list.length <= maxRecipients,
      (issue) => `must have at most ${maxRecipients} items, received ${(issue.input as unknown[]).length}`,
    ),
    documentedAs(() => v.pipe(v.array(RecipientSchema), v.minLength(1), v.maxLength(maxRecipients))),
  ),
  campaignId: v.optional(positiveId),
  client_id: ClientIdJson,
  attends: v.optional(AttendsSchema),
  /** The time to live ends the message (D27). */
  message_send_ttl_seconds: v.optional(v.pipe(wholeNumber, v.minValue(30), v.maxValue(2_592_000))),
  component: v.optional(closedObject({ header: v.optional(HeaderSchema) })),
});

export interface SendRequest {
  readonly did: string;
  readonly template: { readonly name: string; readonly language: string };
  readonly recipients: readonly Recipient[];
  readonly campaignId?: number;
  readonly clientId?: unknown;
  readonly attends?: Readonly<Record<string, unknown>>;
  readonly ttlSeconds?: number;
  readonly header?: HeaderInput;
}

/**
 * Parses the body of a send (contract, POST /v1/template/messages/{did}). Refuses with one 400 unknown fields at any
 * level (D6), wrong types, and anything but 1 to 10,000 recipients.
 */
export function parseSendRequest(body: unknown): SendRequest {
  const faults = new FaultList();
  const envelope = v.safeParse(MessagesSendBody, body);
  for (const issue of envelope.issues ?? []) faults.add(faultOf(issue));
  const recipients = envelope.success ? parseRecipients(envelope.output.recipients, faults) : [];
  if (!envelope.success || faults.count > 0) {
    throw new Refusal('invalid_request', faults.message, { errors: faults.listed() });
  }
  const { did, template, campaignId, client_id, attends, message_send_ttl_seconds, component } = envelope.output;
  return {
    did,
    template,
    recipients,
    campaignId,
    clientId: client_id,
    attends,
    ttlSeconds: message_send_ttl_seconds,
    header: component?.header as HeaderInput | undefined,
  };
}

function parseRecipients(list: readonly unknown[], faults: FaultList): Recipient[] {
  const recipients: Recipient[] = [];
  for (const [index, item] of list.entries()) {
    if (isPlainRecipient(item)) {
      recipients.push(item);
      continue;
    }
    const result = v.safeParse(RecipientSchema, item);
    if (result.success) recipients.push(result.output);
    else for (const issue of result.issues) faults.add(faultWithin(`recipients[${index}]`, issue));
  }
  return recipients;
}

/**
 * Dollars have a decimal point and up to eight decimals, like rates (D58): no sign, exponent or separator, so that no
 * typing error raises a limit.
 */
const dollars = /^\d{1,8}(\.\d{1,8})?$/;

/**
 * `k,k` is a key that came twice: as a key of its own it would send twice (D9). `Dry-Run` must be `true` or `false`
 * exactly, so that a typing error sends nothing (D51).
 */
export const MessagesSendHeaders = v.object({
  'Idempotency-Key': v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[\x21-\x2b\x2d-\x7e]{1,255}$/,
        butReceived('Idempotency-Key must have 1 to 255 visible ASCII characters without a comma'),
      ),
    ),
  ),
  'Dry-Run': v.optional(v.picklist(['true', 'false'], butReceived('Dry-Run must be true or false'))),
  'Max-Cost': v.optional(
    v.pipe(
      v.string(),
      v.regex(dollars, butReceived('Max-Cost must be dollars such as 25.00, with up to eight decimals')),
    ),
  ),
});
