import type { GivenButton } from '../definition.ts';
import { checkCharacters, checkKeys, checkLabel, invalid, missingExample } from './refusals.ts';

interface ButtonKind {
  readonly most: number;
  readonly keys: readonly string[];
  /** Its template may have no other button. */
  readonly alone?: true;
  /** No other text is allowed. */
  readonly text?: string;
}

const mostButtons = 10;
const longestText = 25;
const longestUrl = 2_000;
const longestPhoneNumber = 20;
const longestCode = 20;
/** Only the platform's page on limited-time offers still has this limit. */
const longestOfferCode = 15;

const kinds: Readonly<Record<Exclude<GivenButton['type'], 'OTP'>, ButtonKind>> = {
  QUICK_REPLY: { most: 10, keys: ['text'] },
  URL: { most: 2, keys: ['text', 'url', 'example'] },
  PHONE_NUMBER: { most: 1, keys: ['text', 'phone_number'] },
  COPY_CODE: { most: 1, keys: ['text', 'example'] },
  VOICE_CALL: { most: 1, keys: ['text'] },
  FLOW: {
    most: 1,
    keys: ['text', 'flow_id', 'flow_name', 'flow_json', 'flow_action', 'navigate_screen', 'icon'],
  },
  CATALOG: { most: 1, keys: ['text'], alone: true, text: 'View catalog' },
  MPM: { most: 1, keys: ['text'], alone: true, text: 'View items' },
  SPM: { most: 1, keys: ['text'], alone: true, text: 'View' },
};

/** Checks buttons outside of AUTHENTICATION, also of a card: counts, order, and each by its kind (3.6). */
export function checkButtons(where: string, buttons: readonly GivenButton[] | undefined): void {
  if (buttons === undefined || buttons.length === 0) throw invalid(`${where}: at least one button is required`);
  if (buttons.length > mostButtons) throw invalid(`${where}: at most ${mostButtons} buttons`);
  buttons.forEach((button, index) => {
    const at = `${where}: button ${index}`;
    if (button.type === 'OTP') throw invalid(`${at}: OTP is for AUTHENTICATION templates`);
    const kind = kinds[button.type];
    const alike = buttons.filter((one) => one.type === button.type).length;
    if (alike > kind.most) throw invalid(`${where}: at most ${kind.most} of type ${button.type}`);
    if (kind.alone === true && buttons.length > 1) throw invalid(`${where}: ${button.type} must be the only button`);
    checkButton(at, button, kind);
  });
  checkOrder(where, buttons);
}

function checkButton(at: string, button: GivenButton, kind: ButtonKind): void {
  checkKeys(at, button, ['type', ...kind.keys]);
  // The platform sets the label of COPY_CODE itself.
  if (kind.keys.includes('text') && button.type !== 'COPY_CODE') {
    if (button.text === undefined || button.text.trim() === '') throw invalid(`${at}: a text is required`);
    checkCharacters(at, button.text, longestText);
    checkLabel(button.text);
  }
  if (kind.text !== undefined && button.text !== kind.text) throw invalid(`${at}: the text must be "${kind.text}"`);
  if (button.type === 'URL') checkUrl(at, button);
  if (button.type === 'PHONE_NUMBER') checkPhoneNumber(at, button.phone_number ?? '');
  if (button.type === 'COPY_CODE') checkCode(at, button);
  if (button.type === 'FLOW') checkFlow(at, button);
}

function checkUrl(at: string, button: GivenButton): void {
  const url = button.url ?? '';
  checkCharacters(at, url, longestUrl);
  const fixed = url.replace(/\{\{1\}\}$/, '');
  if (/[{}]/.test(fixed)) throw invalid(`${at}: the url may have one variable, {{1}}, at its very end`);
  if (!['http:', 'https:'].includes(URL.parse(fixed)?.protocol ?? '')) throw invalid(`${at}: not a valid url`);
  const examples = [button.example ?? []].flat();
  if (fixed !== url && (examples.length !== 1 || examples[0]?.trim() === '')) throw missingExample(at);
}

function checkPhoneNumber(at: string, number: string): void {
  checkCharacters(at, number, longestPhoneNumber);
  if (!/^\+?\d[\d ()-]*$/.test(number)) throw invalid(`${at}: not a valid phone number`);
}

function checkCode(at: string, button: GivenButton): void {
  const [code, ...more] = [button.example ?? []].flat();
  if (code === undefined || code === '' || more.length > 0) throw missingExample(at);
  checkCharacters(at, code, longestCode);
  if (!/^[0-9A-Za-z]+$/.test(code)) throw invalid(`${at}: a code has letters and digits only`);
}

function checkFlow(at: string, button: GivenButton): void {
  const given = [button.flow_id, button.flow_name, button.flow_json].filter((one) => one !== undefined);
  if (given.length !== 1) throw invalid(`${at}: exactly one of flow_id, flow_name and flow_json is required`);
}

/** Limits the code in a limited-time offer (3.8). */
export function checkOfferCode(where: string, buttons: readonly GivenButton[] | undefined): void {
  for (const { type, example } of buttons ?? []) {
    if (type === 'COPY_CODE') checkCharacters(where, [example ?? []].flat()[0] ?? '', longestOfferCode);
  }
}

/** Checks that quick replies stand together, before or after all others. */
function checkOrder(where: string, buttons: readonly GivenButton[]): void {
  const quick = buttons.map((button) => button.type === 'QUICK_REPLY');
  const changes = quick.filter((one, index) => index > 0 && one !== quick[index - 1]).length;
  if (changes > 1) throw invalid(`${where}: quick replies must stand together, before or after the others`);
}
