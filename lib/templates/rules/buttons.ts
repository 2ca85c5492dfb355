import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { at, type CheckedValue, fault, onlyKeys, requiredText } from './draft.ts';
import { countEmoji } from './variables.ts';

const labelMaxLength = 25;
const urlMaxLength = 2_000;
const phoneMaxLength = 20;
/** The code of a limited-time offer is shorter than a coupon's. */
const couponMaxLength = 20;
const offerCodeMaxLength = 15;
const maxButtons = 10;
const flowActions = ['NAVIGATE', 'DATA_EXCHANGE'];
const flowIcons = ['DOCUMENT', 'PROMOTION', 'REVIEW'];

interface ButtonRule {
  readonly max: number;
  /** The button must be the only one of its template. */
  readonly alone?: true;
  readonly keys: readonly string[];
  readonly check?: (button: Part, judged: CheckedValue) => void;
}

function label(button: Part, judged: CheckedValue): void {
  const text = requiredText(button, 'text', labelMaxLength, judged);
  if (text !== undefined) checkLabelForm(text, at(judged, 'text'));
}

/** A label of any button has none of these (platform reference, 3.6): the platform refuses it with 100/2388060. */
export function checkLabelForm(text: string, judged: CheckedValue): void {
  if (/\{\{|\}\}/.test(text)) fault(judged, 'no variables in the label of a button');
  if (/[\r\n]/.test(text)) fault(judged, 'no line breaks in the label of a button');
  if (/[*_~`]/.test(text)) fault(judged, 'no formatting characters (* _ ~ `) in the label of a button');
  if (countEmoji(text) > 0) fault(judged, 'no emoji in the label of a button');
}

/** The platform sets this label and accepts no other text. */
function fixedLabel(text: string): NonNullable<ButtonRule['check']> {
  return (button, judged) => {
    if (button['text'] !== text)
      fault(at(judged, 'text'), `"${text}" is required, received ${jsonExcerpt(button['text'])}`);
  };
}

/** These are all kinds of button for a template (platform reference, 3.6); OTP is in authentication.ts. */
const buttonRules: Readonly<Record<string, ButtonRule>> = {
  QUICK_REPLY: { max: 10, keys: ['type', 'text'], check: label },
  URL: { max: 2, keys: ['type', 'text', 'url', 'example'], check: checkUrl },
  PHONE_NUMBER: { max: 1, keys: ['type', 'text', 'phone_number'], check: checkPhone },
  COPY_CODE: { max: 1, keys: ['type', 'text', 'example'], check: checkCoupon },
  VOICE_CALL: { max: 1, keys: ['type', 'text'], check: label },
  FLOW: {
    max: 1,
    keys: ['type', 'text', 'flow_id', 'flow_name', 'flow_json', 'flow_action', 'navigate_screen', 'icon'],
    check: checkFlow,
  },
  CATALOG: { max: 1, alone: true, keys: ['type', 'text'], check: fixedLabel('View catalog') },
  MPM: { max: 1, alone: true, keys: ['type', 'text'], check: fixedLabel('View items') },
  SPM: { max: 1, alone: true, keys: ['type', 'text'], check: fixedLabel('View') },
};

/** Returns the kinds of the buttons, in order. */
export function checkButtons(list: unknown, kinds: readonly string[] | undefined, judged: CheckedValue): string[] {
  if (!Array.isArray(list) || list.length === 0) {
    fault(judged, `a list of buttons, received ${jsonExcerpt(list)}`);
    return [];
  }
  if (list.length > maxButtons) fault(judged, `at most ${maxButtons} buttons, received ${list.length}`);
  const found = list.map((button, index) => checkButton(button, kinds, at(judged, index)));
  for (const [kind, { max, alone }] of Object.entries(buttonRules)) {
    const count = found.filter((each) => each === kind).length;
    if (count > max) fault(judged, `at most ${max} ${kind} ${max === 1 ? 'button' : 'buttons'}, received ${count}`);
    if (alone && count > 0 && list.length > count) fault(judged, `a ${kind} button stands alone`);
  }
  checkOrder(found, judged);
  return found;
}

function checkButton(button: unknown, kinds: readonly string[] | undefined, judged: CheckedValue): string {
  const kind = isPart(button) ? enumOf(button['type']) : undefined;
  const allowed = kinds ?? Object.keys(buttonRules);
  const rule = kind === undefined || !allowed.includes(kind) ? undefined : buttonRules[kind];
  if (!isPart(button) || rule === undefined || kind === undefined) {
    fault(
      at(judged, 'type'),
      `one of ${allowed.join(', ')}, received ${jsonExcerpt(isPart(button) ? button['type'] : button)}`,
    );
    return '';
  }
  onlyKeys(button, rule.keys, judged);
  rule.check?.(button, judged);
  return kind;
}

/** Quick replies stand together, before or after all others. */
function checkOrder(kinds: readonly string[], judged: CheckedValue): void {
  const shape = kinds.map((kind) => (kind === 'QUICK_REPLY' ? 'q' : 'o')).join('');
  if (!/^(q*o*|o*q*)$/.test(shape))
    fault(judged, 'quick replies must stand together, before or after the other buttons');
}

function checkUrl(button: Part, judged: CheckedValue): void {
  label(button, judged);
  const url = requiredText(button, 'url', urlMaxLength, judged);
  if (url === undefined) return;
  const place = at(judged, 'url');
  const fixed = url.replace(/\{\{1\}\}$/, '');
  if (/[{}]/.test(fixed)) fault(place, 'one variable {{1}}, at the very end');
  else if (!URL.canParse(fixed) || !/^https?:$/.test(new URL(fixed).protocol))
    fault(place, `an http or https URL, received ${jsonExcerpt(url)}`);
  const { example } = button;
  const dynamic = fixed !== url;
  const [given, ...more] = Array.isArray(example) ? example : [example];
  const isOne = more.length === 0 && typeof given === 'string' && given.trim() !== '';
  if (dynamic && !isOne) fault(at(judged, 'example'), `a list of one example, received ${jsonExcerpt(example)}`);
  if (!dynamic && example !== undefined) fault(at(judged, 'example'), 'a static URL takes no example');
}

function checkPhone(button: Part, judged: CheckedValue): void {
  label(button, judged);
  const phone = requiredText(button, 'phone_number', phoneMaxLength, judged);
  if (phone !== undefined && !/^\+?\d[\d ()-]*$/.test(phone)) {
    fault(
      at(judged, 'phone_number'),
      `digits, blanks, brackets and hyphens, with an optional + in front, received ${jsonExcerpt(phone)}`,
    );
  }
}

function checkCoupon(button: Part, judged: CheckedValue): void {
  if (codeLength(button) > couponMaxLength) codeFault(button, couponMaxLength, judged);
}

/** Checks the code of a limited-time offer. `checkCoupon` has already reported longer and malformed codes. */
export function checkOfferCode(list: unknown, judged: CheckedValue): void {
  for (const [index, button] of (Array.isArray(list) ? list : []).entries()) {
    if (!isPart(button) || enumOf(button['type']) !== 'COPY_CODE') continue;
    const length = codeLength(button);
    if (length > offerCodeMaxLength && length <= couponMaxLength) {
      codeFault(button, offerCodeMaxLength, at(judged, index));
    }
  }
}

/** Returns the code's length, infinite unless it is letters and digits. */
function codeLength({ example }: Part): number {
  const code = Array.isArray(example) && example.length === 1 ? example[0] : example;
  return typeof code === 'string' && /^[A-Za-z0-9]+$/.test(code) ? code.length : Number.POSITIVE_INFINITY;
}

function codeFault({ example }: Part, most: number, judged: CheckedValue): void {
  fault(at(judged, 'example'), `1 to ${most} letters and digits, received ${jsonExcerpt(example)}`);
}

function checkFlow(button: Part, judged: CheckedValue): void {
  label(button, judged);
  const given = ['flow_id', 'flow_name', 'flow_json'].filter((key) => button[key] !== undefined);
  if (given.length !== 1) {
    fault(judged, `exactly one of flow_id, flow_name and flow_json, received ${given.join(', ') || 'none'}`);
  }
  const { flow_action: action, icon } = button;
  if (action !== undefined && !flowActions.includes(enumOf(action) ?? '')) {
    fault(at(judged, 'flow_action'), `navigate or data_exchange, received ${jsonExcerpt(action)}`);
  }
  if (icon !== undefined && !flowIcons.includes(enumOf(icon) ?? '')) {
    fault(at(judged, 'icon'), `one of ${flowIcons.join(', ')}, received ${jsonExcerpt(icon)}`);
  }
}
