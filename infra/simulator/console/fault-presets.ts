import type { Overview, TemplateRow } from './model.ts';

/* Each fault is one control call. The service's reactions are in lib/platform/FACTS.md (6) and D29, D43 and D46. */

/** The path is relative to `/_control/`. */
export interface PresetCall {
  readonly path: string;
  readonly body: object;
}

export type PresetWorld = Pick<Overview, 'wabas' | 'numbers'> & { readonly templates: readonly TemplateRow[] };

type Option = readonly [string, string];

export interface Preset {
  readonly id: string;
  readonly title: string;
  readonly happens: string;
  readonly service: string;
  readonly choice?: { readonly label: string; readonly options: (world: PresetWorld) => readonly Option[] };
  /** A fault lasts for a number of `requests`, or until it is `removed`. */
  readonly lasts: 'requests' | 'removed';
  readonly call: (choice: string, times: object) => PresetCall;
}

/** The match is for sends alone, on both paths of the platform. */
const sends = { method: 'POST', path: 'messages' };

const lateMs = 600_000;

const receiptCourses: Readonly<Record<string, object>> = {
  late: { late_ms: lateMs },
  doubled: { copies: 2, order: 'reversed' },
  lost: { lost: true },
};

const wabasOf = ({ wabas }: PresetWorld) => wabas.map(({ id, fields }): Option => [id, String(fields['name'])]);
const numbersOf = ({ numbers }: PresetWorld) =>
  numbers.map(({ id, fields }): Option => [id, `${fields['display_phone_number']} · ${fields['verified_name']}`]);

const approvedOf = ({ templates }: PresetWorld) =>
  templates
    .filter(({ status }) => status === 'APPROVED')
    .map(({ id, name, language }): Option => [id, `${name} (${language})`]);

export const presets: readonly Preset[] = [
  {
    id: 'slow',
    title: 'The platform is slow',
    happens: 'Every send is answered after 8 seconds.',
    service: 'The service waits up to 10 seconds: messages still go out, more slowly.',
    lasts: 'requests',
    call: (_, times) => ({ path: 'faults', body: { match: sends, action: { delay_ms: 8_000 }, ...times } }),
  },
  {
    id: 'cut',
    title: 'The connection is cut after a send',
    happens: 'The message is taken, and its answer is lost.',
    service: 'The service reports it as unknown, never sends it again, and settles it when a receipt comes.',
    lasts: 'requests',
    call: (_, times) => ({ path: 'faults', body: { match: sends, action: { drop: 'after' }, ...times } }),
  },
  {
    id: 'down',
    title: 'The platform fails (HTTP 500)',
    happens: 'Every send fails with code 131000, which leaves open whether it was taken.',
    service: 'The service reports these messages as unknown, and stops the number after three bad runs in a row.',
    lasts: 'requests',
    call: (_, times) => ({ path: 'faults', body: { match: sends, action: { status: 500, code: 131000 }, ...times } }),
  },
  {
    id: 'throttled',
    title: 'Too many messages',
    happens: 'Sends are refused: too many from the number, or too many to one person.',
    service: 'The service slows down, and tries them again by itself for a day at most.',
    choice: {
      label: 'Too many',
      options: () => [
        ['130429', 'from the number (130429)'],
        ['131056', 'to one person (131056)'],
      ],
    },
    lasts: 'requests',
    call: (code, times) => ({ path: 'faults', body: { match: sends, action: { code: Number(code) }, ...times } }),
  },
  {
    id: 'paused',
    title: 'A template is paused',
    happens: 'The platform pauses it for 3 hours, the second time for 6. The third time it is disabled for good.',
    service: 'Its messages wait, a day at most, and go on by themselves when the pause ends.',
    choice: { label: 'Template', options: approvedOf },
    lasts: 'removed',
    call: (id) => ({ path: `templates/${id}/pause`, body: {} }),
  },
  {
    id: 'revoked',
    title: 'The token is revoked (190)',
    happens: 'Every request is refused with code 190, not only sends.',
    service: 'Messages wait and are tried again for a day, and an alarm calls the operator.',
    lasts: 'requests',
    call: (_, times) => ({ path: 'faults', body: { match: {}, action: { code: 190 }, ...times } }),
  },
  {
    id: 'unpaid',
    title: 'The account cannot pay (131042)',
    happens: 'Every message of the business account is refused until the payment is in order.',
    service: 'All messages of the account wait, a day at most; one of them asks now and then whether it is over.',
    choice: { label: 'Business account', options: wabasOf },
    lasts: 'removed',
    call: (id) => ({ path: `wabas/${id}/holds`, body: { code: 131042 } }),
  },
  {
    id: 'twenty',
    title: 'A number may send 20 a second',
    happens: 'Its limit falls to 20 messages a second; what is more is refused with code 130429.',
    service: 'The service learns it from the refusals, and sends at that pace.',
    choice: { label: 'Number', options: numbersOf },
    lasts: 'removed',
    call: (id) => ({ path: `numbers/${id}`, body: { is_on_biz_app: true } }),
  },
  {
    id: 'receipts',
    title: 'Receipts come late, twice or never',
    happens: 'Messages arrive as usual, and what is told of them by webhook is disturbed.',
    service: 'Reports follow the receipts: late ones count when they come, double ones once, lost ones never.',
    choice: {
      label: 'Receipts come',
      options: () => [
        ['late', '10 minutes late'],
        ['doubled', 'twice, in reversed order'],
        ['lost', 'never'],
      ],
    },
    lasts: 'requests',
    call: (how, times) => ({ path: 'receipts', body: { course: receiptCourses[how], ...times } }),
  },
  {
    id: 'media',
    title: 'Media cannot be fetched (131053)',
    happens: 'Messages are accepted, and fail a second later: the platform could not fetch their media.',
    service: 'The report shows them as failed with code 131053. They are not tried again by themselves.',
    lasts: 'requests',
    call: (_, times) => ({ path: 'receipts', body: { course: { fail: 131053 }, ...times } }),
  },
];
