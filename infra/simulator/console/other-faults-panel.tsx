import { control } from './api.ts';
import { type FieldGroup, FieldGroups, type FieldOf, Form } from './form.tsx';
import { holdWords } from './holds-in-force.ts';
import type { Overview } from './model.ts';

const times: FieldOf = { path: 'times', label: 'How many', usual: 'until removed', kind: 'number' };

const faultGroups: readonly FieldGroup[] = [
  {
    title: 'Which requests',
    fields: [
      { path: 'match.path', label: 'Path has', example: '/messages' },
      { path: 'match.method', label: 'Method', choices: ['GET', 'POST', 'DELETE'] },
      { path: 'match.to', label: 'Recipient', example: '5491150000001' },
      times,
    ],
  },
  {
    title: 'What they are answered',
    fields: [
      { path: 'action.status', label: 'HTTP status', example: '503', kind: 'number' },
      { path: 'action.code', label: 'Code', example: '130429', kind: 'number' },
      { path: 'action.subcode', label: 'Subcode', example: '2388023', kind: 'number' },
      { path: 'action.message_status', label: 'Message status', example: 'held_for_quality_assessment' },
      { path: 'action.html', label: 'A web page instead of JSON', choices: ['true'], kind: 'truth' },
    ],
  },
  {
    title: 'The connection',
    fields: [
      { path: 'action.delay_ms', label: 'Answer after, ms', example: '2000', kind: 'number' },
      {
        path: 'action.drop',
        label: 'Close it',
        choices: ['before', 'after'],
        called: (choice) => `${choice} the request is carried out`,
        none: 'no',
      },
    ],
  },
];

const courseGroups: readonly FieldGroup[] = [
  {
    title: 'Which messages',
    fields: [
      { path: 'match.to', label: 'Recipient', example: '5491150000001' },
      { path: 'match.template', label: 'Template', example: 'order_update' },
      times,
    ],
  },
  {
    title: 'What becomes of them',
    fields: [
      { path: 'course.held_ms', label: 'Held for, ms', example: '6000', kind: 'number' },
      { path: 'course.sent_after_ms', label: 'Sent after, ms', example: '0', kind: 'number' },
      { path: 'course.delivered_after_ms', label: 'Delivered after, ms', example: '1000', kind: 'number' },
      { path: 'course.read_after_ms', label: 'Read after, ms', example: '3000', kind: 'number' },
      { path: 'course.fail', label: 'Fail with code', example: '131026', kind: 'number' },
      { path: 'course.failed_after_ms', label: 'Failed after, ms', example: '1000', kind: 'number' },
    ],
  },
  {
    title: 'How receipts come',
    fields: [
      { path: 'course.late_ms', label: 'Late by, ms', example: '8000', kind: 'number' },
      { path: 'course.copies', label: 'Copies', example: '2', kind: 'number' },
      { path: 'course.order', label: 'Order', choices: ['right', 'reversed', 'shuffled'], none: 'as usual' },
      { path: 'course.lost', label: 'Never sent', choices: ['true'], kind: 'truth' },
    ],
  },
];

interface PanelProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

/** Sets any fault, receipt rule or hold without a preset; it is collapsed at first. */
export function OtherFaultsPanel({ overview, onChange }: PanelProps) {
  const add = (path: string) => async (body: object) => {
    await control(path, body);
    onChange();
  };
  const hold = async (body: object) => {
    const { node, code } = body as { readonly node?: string; readonly code?: string };
    if (node === undefined || code === undefined) throw new Error('Say what is held, and why');
    await control(`${node}/holds`, { code: /^\d+$/.test(code) ? Number(code) : code });
    onChange();
  };
  return (
    <details class="panel wide other">
      <summary>
        <h2>Any other fault</h2>
      </summary>
      <section aria-labelledby="other-fault">
        <h3 id="other-fault">A fault of requests</h3>
        <p class="note">A request meets the oldest fault that matches it. What is left empty matches everything.</p>
        <Form label="Add fault" submit={add('faults')}>
          {(bind) => <FieldGroups groups={faultGroups} bind={bind} />}
        </Form>
      </section>
      <section aria-labelledby="other-receipts">
        <h3 id="other-receipts">Receipts that come differently</h3>
        <p class="note">
          Usually a message is sent at once, delivered after 1 s and read after 3 s. Each rule that matches changes
          that, the newest last.
        </p>
        <Form label="Add rule" submit={add('receipts')}>
          {(bind) => <FieldGroups groups={courseGroups} bind={bind} />}
        </Form>
      </section>
      <section aria-labelledby="other-hold">
        <h3 id="other-hold">A hold</h3>
        <p class="note">Of a business account or of one of its numbers, for a reason that concerns it.</p>
        <Form label="Add hold" submit={hold}>
          {(bind) => <FieldGroups groups={[holdGroup(overview)]} bind={bind} />}
        </Form>
      </section>
    </details>
  );
}

function holdGroup({ wabas, numbers }: Overview): FieldGroup {
  const nodes = new Map<string, string>([
    ...wabas.map(({ id, fields }) => [`wabas/${id}`, `Account ${fields['name']}`] as const),
    ...numbers.map(({ id, fields }) => [`numbers/${id}`, `Number ${fields['display_phone_number']}`] as const),
  ]);
  const reasonOf = (code: string) => {
    const words = holdWords[code];
    return `${words?.of === 'waba' ? 'Account' : 'Number'}: ${words?.reason ?? ''} (${code})`;
  };
  const none = 'choose one';
  return {
    title: 'What is held, and why',
    fields: [
      { path: 'node', label: 'Held', choices: [...nodes.keys()], called: (id) => nodes.get(id) ?? id, none },
      { path: 'code', label: 'Reason', choices: Object.keys(holdWords), called: reasonOf, none },
    ],
  };
}
