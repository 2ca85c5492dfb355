import { isUserId } from '../../platform/user-id.ts';
import type { CompositionPlan } from '../dispatch/composition-plan.ts';
import type { HeaderInput, MessageRequest, Recipient } from '../dispatch/head.ts';
import { type QuickReplyPlace, replyPayload } from '../reply-payload.ts';
import type { ParameterContract } from './parameter-contract.ts';
import { canonicalAddress } from './recipient-address.ts';
import { urlSuffix } from './url-suffix.ts';

type PlannedButtons = Pick<CompositionPlan, 'buttons' | 'redirects' | 'quickReplies'>;
type Params = NonNullable<Recipient['params']>;

/** Returns the plan of a template whose recipients have passed `checkRecipients`. */
export function compositionPlan(
  template: { readonly name: string; readonly language: string },
  contract: ParameterContract,
  inputs: { readonly header?: HeaderInput; readonly catalogId?: string; readonly messagingAccountId?: string },
): CompositionPlan {
  const { flows, codeButton, productList } = contract;
  const { header, ...others } = inputs;
  return {
    templateName: template.name,
    languageCode: template.language,
    header: header && named(header),
    ...others,
    ...plannedButtons(contract),
    flows: flows && [...flows],
    codeButton,
    productList,
    cards: contract.cards.map((card) => ({ media: card.media, ...plannedButtons(card) })),
  };
}

const longestDocumentName = 255;

/** A document without a name has the last part of its URL, decoded (D26): the person would see one without a name. */
function named(header: HeaderInput): HeaderInput {
  if (header.type !== 'document_url' || header.filename !== undefined) return header;
  const segment = new URL(header.value).pathname.split('/').at(-1) ?? '';
  // An escaped slash may part the path of a store of files.
  const [name = ''] = decoded(segment).split(/[/\\]/).slice(-1);
  const shown = name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '').trim();
  const filename = [...shown].slice(-longestDocumentName).join('');
  return filename === '' ? header : { ...header, filename };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function plannedButtons({
  buttons,
  redirects,
  quickReplies,
}: Pick<ParameterContract, 'buttons' | 'redirects' | 'quickReplies'>): PlannedButtons {
  return {
    buttons: buttons.map(({ index, kind }) => ({ index, kind })),
    redirects: redirects && [...redirects],
    quickReplies: quickReplies && [...quickReplies],
  };
}

/**
 * Returns the platform's request body for one recipient (platform reference, 4.1 and 4.2). Is pure. `messageId`
 * returns in status events as `biz_opaque_callback_data`, and with a tapped quick reply.
 */
export function composeMessage(plan: CompositionPlan, recipient: Recipient, messageId: string): MessageRequest {
  const components = messageComponents(plan, recipient.params ?? {}, messageId);
  const address = isUserId(recipient.to) ? { recipient: recipient.to } : { to: canonicalAddress(recipient.to) };
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...address,
    type: 'template',
    template: {
      name: plan.templateName,
      language: { code: plan.languageCode },
      ...(components.length === 0 ? {} : { components }),
    },
    biz_opaque_callback_data: messageId,
    messaging_account_id: plan.messagingAccountId,
  };
}

type Component = Readonly<Record<string, unknown>>;

function messageComponents(plan: CompositionPlan, params: Params, messageId: string): Component[] {
  const [product] = params.products ?? [];
  const components = [
    ...headerComponent(plan, params),
    ...textComponent('body', params.body),
    ...buttonComponents(plan, plan.codeButton === undefined ? params.buttons : []),
    ...quickReplies(plan, messageId),
    ...(plan.flows ?? []).map((index) => ({ type: 'button', sub_type: 'flow', index })),
  ];
  if (plan.codeButton !== undefined) components.push(urlButton(plan.codeButton, params.body?.[0] ?? ''));
  if (plan.productList !== undefined && product !== undefined) {
    const { thumbnailProductRetailerId, sections } = product.action;
    const action = { thumbnail_product_retailer_id: thumbnailProductRetailerId, sections };
    components.push(button('mpm', plan.productList, { type: 'action', action }));
  }
  if (plan.cards.length > 0) {
    const cards = plan.cards.map((card, index) => ({
      card_index: index,
      components: [...cardComponents(card, params.cards?.[index] ?? {}), ...quickReplies(card, messageId, index)],
    }));
    components.push({ type: 'carousel', cards });
  }
  return components;
}

function headerComponent(plan: CompositionPlan, params: Params): Component[] {
  if (plan.header !== undefined) return [{ type: 'header', parameters: [headerParameter(plan.header)] }];
  const [product] = params.products ?? [];
  if (plan.catalogId !== undefined && product !== undefined) {
    const { thumbnailProductRetailerId } = product.action;
    const value = { product_retailer_id: thumbnailProductRetailerId, catalog_id: plan.catalogId };
    return [{ type: 'header', parameters: [{ type: 'product', product: value }] }];
  }
  return textComponent('header', params.header);
}

function headerParameter(header: HeaderInput): Component {
  switch (header.type) {
    case 'image_url':
      return { type: 'image', image: { link: header.value } };
    case 'video_url':
      return { type: 'video', video: { link: header.value } };
    case 'document_url': {
      const filename = { filename: header.filename };
      return { type: 'document', document: { link: header.value, ...filename } };
    }
    case 'location':
      return { type: 'location', location: header.location };
  }
}

function cardComponents(
  card: CompositionPlan['cards'][number],
  params: NonNullable<Params['cards']>[number],
): Component[] {
  const { kind, link } = card.media;
  const media = { type: 'header', parameters: [{ type: kind, [kind]: { link } }] };
  return [media, ...textComponent('body', params.body), ...buttonComponents(card, params.buttons)];
}

function textComponent(type: 'header' | 'body', values: readonly string[] = []): Component[] {
  if (values.length === 0) return [];
  return [{ type, parameters: values.map((text) => ({ type: 'text', text })) }];
}

/** Values fill the buttons in order; redirects carry their own (D19). */
function buttonComponents({ buttons, redirects = [] }: PlannedButtons, values: readonly string[] = []): Component[] {
  const filled = buttons.map(({ index, kind }, position) => {
    const value = values[position];
    if (value === undefined) throw new Error('a button has no value');
    return kind === 'url'
      ? urlButton(index, urlSuffix(value))
      : button('copy_code', index, { type: 'coupon_code', coupon_code: value });
  });
  return [...filled, ...redirects.map(({ index, code }) => urlButton(index, code))];
}

/** Each payload names message and button, because labels of buttons may be equal. */
function quickReplies({ quickReplies = [] }: PlannedButtons, messageId: string, card?: number): Component[] {
  return quickReplies.map((index) => {
    const place: QuickReplyPlace = { button: index, card };
    return button('quick_reply', index, { type: 'payload', payload: replyPayload(messageId, place) });
  });
}

function urlButton(index: number, suffix: string): Component {
  return button('url', index, { type: 'text', text: suffix });
}

function button(subType: 'url' | 'copy_code' | 'mpm' | 'quick_reply', index: number, parameter: Component): Component {
  return { type: 'button', sub_type: subType, index, parameters: [parameter] };
}
