import { type Component, type PhoneView, phoneView, previewOf } from '../../console/phone-view.ts';
import type { Entry, MessageContent } from '../logs.ts';
import type { World } from '../state.ts';
import { portfolioIdOf } from '../wabas.ts';
import { contextOf, dispatchOf } from './message-context.ts';
import { mediaNamed, productsNamed } from './products-and-media.ts';

/** Returns a row of the console's list: only what searches and columns need. */
export function rowOf(entry: Entry) {
  const { place, message, content, accepted, told, replies, heldUntilMs } = entry;
  const { name, language, category } = shownOf(content);
  return {
    place,
    id: message.id,
    to: message.to,
    number: message.phone_number_id,
    template: name,
    language,
    category,
    preview: previewOf(viewOf(entry)),
    dispatch: dispatchOf(accepted.callbackData),
    received_ms: accepted.acceptedMs,
    told: told.map(({ status, at_ms, code }) => ({ status, at_ms, code })),
    replies: replies.length,
    // The time is null while pacing has not decided.
    held_until_ms: heldUntilMs === Number.POSITIVE_INFINITY ? null : heldUntilMs,
  };
}

export function viewOf({ message, content }: Entry): PhoneView {
  return phoneView(shownOf(content).components, partsOf(message.request));
}

/** Shows the template as it was at the send. */
export function detailOf(world: World, entry: Entry) {
  const { message, content, accepted, replies, told } = entry;
  const { id, components } = shownOf(content);
  return {
    row: rowOf(entry),
    path: message.path,
    request: message.request,
    parts: partsOf(message.request),
    components,
    template_id: id,
    ...contextOf(world, {
      ...{ to: message.to, numberId: message.phone_number_id, callbackData: accepted.callbackData },
      codes: told.map(({ code }) => code ?? null),
    }),
    products: productsNamed(world, message.phone_number_id, viewOf(entry)),
    media: mediaNamed(world, viewOf(entry)),
    replies,
    exchange: world.exchanges.withBody(message.request)?.id ?? null,
    business: portfolioOf(world, message.phone_number_id),
  };
}

function portfolioOf(world: World, numberId: string): string {
  const waba = world.wabas.get(world.numbers.get(numberId)?.wabaId ?? '');
  return waba === undefined ? '' : portfolioIdOf(waba);
}

interface Shown {
  /** The id, name and language are empty for a text. */
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly components: readonly Component[];
}

/** A text is shown like the body of a template without variables. */
function shownOf(content: MessageContent): Shown {
  if (content.kind === 'text') {
    const components = [{ type: 'BODY', text: content.text }];
    return { id: '', name: '', language: '', category: 'SERVICE', components };
  }
  const { id, fields, components } = content.template;
  const { name, language, category } = fields;
  return { id, name, language, category, components };
}

function partsOf(request: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { template } = request as { readonly template?: { readonly components?: unknown } };
  return Array.isArray(template?.components) ? template.components : [];
}
