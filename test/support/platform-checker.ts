import type { PlatformTemplate, TemplateButton, TemplateComponent } from '../../lib/templates/model/template.ts';

interface SentComponent {
  readonly type: string;
  readonly sub_type?: string;
  readonly index?: number;
  readonly parameters?: readonly { readonly type: string }[];
  readonly cards?: readonly { readonly card_index: number; readonly components: readonly SentComponent[] }[];
}

export interface SentMessage {
  readonly to?: string;
  readonly recipient?: string;
  readonly template: {
    readonly name: string;
    readonly language: { readonly code: string };
    readonly components?: readonly SentComponent[];
  };
}

const variables = (text: string | null | undefined) => new Set((text ?? '').match(/\{\{\d+\}\}/g)).size;

/** Returns the platform's complaints about a send, from the template alone: number, place and kind of parameters. */
export function platformComplaints(template: PlatformTemplate, message: SentMessage): string[] {
  const { name, language, components = [] } = message.template;
  const complaints = complaintsAbout(template.components, components);
  if (name !== template.name || language.code !== template.language) complaints.push('132001');
  if ((message.to === undefined) === (message.recipient === undefined)) complaints.push('100 to xor recipient');
  const carousel = template.components.find((component) => component.type === 'CAROUSEL');
  const sentCards = components.find((component) => component.type === 'carousel')?.cards ?? [];
  for (const [index, card] of (carousel?.cards ?? []).entries()) {
    const sent = sentCards[index];
    if (sent?.card_index !== index) complaints.push(`132000 card ${index}`);
    else complaints.push(...complaintsAbout(card.components, sent.components));
  }
  if (sentCards.length !== (carousel?.cards ?? []).length) complaints.push('132000 cards');
  return complaints;
}

function complaintsAbout(defined: readonly TemplateComponent[], sent: readonly SentComponent[]): string[] {
  const component = (type: string) => defined.find((each) => each.type === type);
  const typesOf = (type: string) => sent.find((each) => each.type === type)?.parameters?.map((each) => each.type) ?? [];
  const complaints: string[] = [];
  const expect = (what: string, expected: unknown, received: unknown) => {
    if (JSON.stringify(expected) !== JSON.stringify(received)) complaints.push(`132000 ${what}: ${received}`);
  };
  const header = component('HEADER');
  const format = header?.format?.toLowerCase() ?? 'text';
  expect('header', format === 'text' ? Array(variables(header?.text)).fill('text') : [format], typesOf('header'));
  expect('body', Array(variables(component('BODY')?.text)).fill('text'), typesOf('body'));
  const needed = (component('BUTTONS')?.buttons ?? []).flatMap(neededButton);
  const given = sent
    .filter((each) => each.type === 'button' && !isOptional(each, component('BUTTONS')?.buttons ?? []))
    .map((each) => `${each.sub_type} ${each.index} ${each.parameters?.map((parameter) => parameter.type)}`);
  expect('buttons', needed.toSorted(), given.toSorted());
  return complaints;
}

/** Tells whether parameters are optional: a quick reply's payload is, when the template has that quick reply. */
function isOptional({ sub_type, index, parameters }: SentComponent, buttons: readonly TemplateButton[]): boolean {
  const isReply = sub_type === 'quick_reply' && buttons[index ?? -1]?.type === 'QUICK_REPLY';
  return isReply && parameters?.length === 1 && parameters[0]?.type === 'payload';
}

function neededButton(button: TemplateButton, index: number): string[] {
  if (button.type === 'URL' && variables(button.url) > 0) return [`url ${index} text`];
  if (button.type === 'OTP') return [`url ${index} text`];
  if (button.type === 'COPY_CODE') return [`copy_code ${index} coupon_code`];
  if (button.type === 'MPM') return [`mpm ${index} action`];
  if (button.type === 'FLOW') return [`flow ${index} undefined`];
  return [];
}
