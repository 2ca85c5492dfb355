import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditOf } from '../../infra/operate/operator-audit.ts';
import { eraseCommand } from '../../infra/operate/people/erase.ts';
import { type TableName, tables } from '../../infra/tables.ts';
import { addressOf } from '../support/addresses.ts';
import { as, eventually, platform, synchronize } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { eventsOfFile } from '../support/event-receiver.ts';
import { allItems, itemsWith } from '../support/names-left.ts';
import { silent } from '../support/operator-audit.ts';
import { messagesHeld, queueClientAt, runningTarget } from '../support/running-target.ts';
import { askReport, coupon, dispatchTo, type ReportRow as Row, reportOf, takenOf } from '../support/sends.ts';

/*
 * A person with data of every kind is erased while a dispatch runs (D60). Then the queues empty, and a reader without
 * knowledge of any format searches every table.
 */

const phoneNumberId = '300000000000001';
const wabaId = '200000000000001';
const number = '5492557001301';
const secret = 'Calle-Balcarce-78';
/** The dispatch is held during the erasure, so that the speed of the machine does not matter. */
const total = 40;
/** Work of seconds takes minutes on a busy machine. */
const patienceMs = 240_000;
const template = { name: 'erase_me', language: 'en_US', category: 'UTILITY', status: 'APPROVED' };
const components = [{ type: 'BODY', text: 'For {{1}}.', example: { body_text: [['you']] } }];
const target = runningTarget();
const { documentClient, tableName } = target;
let templateId = '';
// The receiver takes no event, so that events wait.
eventsOfFile(['message.delivered', 'message.read', 'message.failed'], async () => ({ status: 500 }));

/** Makes the platform refuse all messages of the number, until `mend` (D46). */
const hold = () => platform(`POST /_control/numbers/${phoneNumberId}/holds`, { code: 133_010 });
const mend = () => platform(`DELETE /_control/numbers/${phoneNumberId}/holds`);

beforeAll(async () => {
  const waba = { waba_id: wabaId, templates: [{ ...template, components }] };
  templateId = (await platform('POST /_control/templates', waba)).body.ids[0];
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
}, 120_000);

afterAll(async () => {
  await tellAt(addressOf('platformUrl'), null);
  await mend();
  await platform(`DELETE /_control/templates/${templateId}`);
  await eraseTemplate(target, template.name);
}, 120_000);

const of = {
  template: { name: template.name, language: 'en_US' },
  params: (to: string) => ({ body: [to.endsWith(number) || to.startsWith('AR.') ? secret : 'another'] }),
};
const rowsOf = async (dispatchId: string, query = ''): Promise<readonly Row[]> =>
  (await askReport(dispatchId, { query })).body.data;

/** Returns the one row of a dispatch, once it is read. */
const readRow = async (dispatchId: string): Promise<Row> =>
  (await reportOf(dispatchId, ({ data: [row] }) => row.state === 'read' && 'user_id' in row)).data[0];

async function erase(line: string): Promise<Readonly<Record<string, unknown>>> {
  const lines: string[] = [];
  const terminal = {
    ...{ print: (each: string) => void lines.push(each), tell: () => undefined, progress: silent },
    ...{ input: () => '', nowMs: Date.now },
  };
  await eraseCommand(
    [...line.split(' '), '--yes'],
    () => ({ target, stage: undefined, by: async () => 'someone', audit: auditOf(target, undefined) }),
    terminal,
  );
  return JSON.parse(lines.at(-1) ?? '');
}

const textOfAll = async (words: readonly string[]) => {
  const found: string[] = [];
  for (const name of Object.keys(tables) as TableName[]) {
    const items = await allItems(documentClient, tableName(name));
    found.push(...itemsWith(words, items).map((each) => `${name}: ${each}`));
  }
  return found;
};

test('a person who is erased in the middle of a dispatch is not called, and is named nowhere (D60)', async () => {
  // Other files on this stack may have left a wake that is delayed for minutes.
  const heldBefore = await heldInQueues();
  const byNumber = await dispatchTo([`+${number}`], { of, headers: { 'Idempotency-Key': 'erase-me' } });
  const row = await readRow(byNumber);
  const userId = String(row['user_id']);
  const byId = await dispatchTo([userId], { of });
  await readRow(byId);
  const words = [number, userId, secret];
  expect((await as('supervisor1001', `PUT /v1/opt-outs/${number}`)).status).toBe(200);
  const others = Array.from({ length: total - 1 }, (_, at) => String(5_492_558_000_000 + at));
  await hold();
  const dispatchId = await dispatchTo([...others, number], { of });
  const waits = ({ data }: { data: readonly Row[] }) => data.some((each) => each['code'] === '133010');
  await reportOf(dispatchId, waits, { withinMs: patienceMs });
  await eventually('no call of it is under way', async () => {
    const items = await allItems(documentClient, tableName('messages'));
    const isUnderWay = items.some(({ pk, state }) => String(pk).includes(dispatchId) && state === 'claimed');
    return isUnderWay ? undefined : true;
  });
  await eventually('an event waits', async () =>
    (await textOfAll(words)).some((name) => name.includes('WAITS#')) ? true : undefined,
  );
  expect((await textOfAll(words)).length).toBeGreaterThan(8);

  const log = await erase(`--recipient ${number}`);
  expect(log).toMatchObject({ dispatches: 3, messages: 3, pending: 1, underWay: 0, linkedIds: 1, clean: true });
  expect(log).toMatchObject({ changed: { optOutRows: 1 } });
  await mend();
  const rows = await eventually(
    'all of it has ended',
    async () => {
      const pending = await rowsOf(dispatchId, '?state=pending');
      return pending.length === 0 ? await rowsOf(dispatchId, '?state=failed&limit=1000') : undefined;
    },
    patienceMs,
  );
  expect(rows).toEqual([expect.objectContaining({ index: total - 1, state: 'failed', code: 'erased' })]);
  expect(rows.flatMap(Object.keys).filter((name) => ['to', 'user_id', 'wa_id', 'reason'].includes(name))).toEqual([]);
  expect(await takenOf(`template=${template.name}`)).toBe(total + 1);
  // The two messages before the erasure went to the number and to the user id.
  expect(await takenOf(`to=${number}&template=${template.name}`)).toBe(2);
  expect(await rowsOf(byNumber)).toEqual([{ index: 0, state: 'read', updated_at: row['updated_at'] }]);

  await eventually(
    'the queues hold no more than before, but for the wake of what waits, and an erasure leaves nothing',
    async () => {
      if ((await heldInQueues()) > heldBefore + 1) return undefined;
      await erase(`--recipient ${number}`);
      return (await textOfAll(words)).length === 0 ? true : undefined;
    },
    patienceMs,
  );

  const offered = await reportOf(await dispatchTo([number], { of: coupon }));
  // The stop refuses as before.
  expect(offered.data).toMatchObject([{ to: number, state: 'failed', code: 'opted_out' }]);
}, 900_000);

async function heldInQueues(): Promise<number> {
  const queues = queueClientAt(addressOf('sqsEndpoint'));
  const held = await Promise.all(Object.values(addressOf('queueUrls')).map((url) => messagesHeld(queues, url)));
  return held.reduce((sum, count) => sum + count, 0);
}
