import { beforeAll, expect, test } from 'vitest';
import { templateTypesCommand } from '../../infra/operate/see/template-types.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { synchronize } from '../support/api.ts';
import { runningTarget } from '../support/running-target.ts';
import { typeFaults } from '../support/type-check.ts';

const { documentClient, tableName } = runningTarget();
const templates = templateStore(documentClient, tableName('templates'));
/** Returns the demo's templates, one of them disabled by the client. */
const rowsOf = async (clientId: number) =>
  (await templates.rowsOf(clientId)).map((row) => ({ ...row, active: row.name !== 'store_visit' }));
const open = () => ({
  directory: directoryStore(documentClient, tableName('directory')),
  templates: { ...templates, rowsOf },
});

async function run(...typed: readonly string[]) {
  const printed: string[] = [];
  const written: Record<string, string> = {};
  const ports = {
    print: (text: string) => printed.push(text),
    write: (path: string, text: string) => Object.assign(written, { [path]: text }),
  };
  await templateTypesCommand(typed, open, ports);
  return { printed, written };
}

beforeAll(() => synchronize('supervisor1001'));

const send = (name: string, language: string, body: readonly string[]) => `import type { Send } from './types.ts';
export const send: Send = ${JSON.stringify({
  did: '5491100000001',
  type: 'template',
  channel: 'MESSAGING',
  template: { name, language },
  recipients: [{ to: '5491155550001', params: { body, buttons: ['A-1'] } }],
})};
`;

test('the types of a client are those of its templates that can be sent now', async () => {
  const { printed, written } = await run('--client', '1001', '--out', '/types/out.ts');
  expect([printed, Object.keys(written)]).toEqual([[], ['/types/out.ts']]);
  const faults = typeFaults({
    'types.ts': written['/types/out.ts'] ?? '',
    'right.ts': send('order_update', 'en_US', ['Ana', 'A-1']),
    'wrong.ts': send('order_update', 'en_US', ['Ana']),
  });
  expect([...faults.keys()]).toEqual(['wrong.ts']);
});

test('without --out they are printed: what can be sent, and of that client only', async () => {
  const [text = ''] = (await run('--client', '1001')).printed;
  const names = [...text.matchAll(/^ {2}readonly "(\w+)": \{$/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['login_code', 'order_update', 'welcome_offer']));
  // These are in review, with named parameters, disabled, and of a foreign WABA.
  for (const other of ['summer_sale', 'named_params', 'store_visit', 'appointment_reminder'])
    expect(names).not.toContain(other);
});

test.each([
  [['--client', '999999'], 'There is no client 999999.'],
  [[], '--client is missing'],
  [['--client', 'Andes'], '--client is not a client id: Andes'],
])('%j is refused', async (typed, message) => {
  await expect(run(...typed)).rejects.toMatchObject({ name: 'CommandError', message });
});
