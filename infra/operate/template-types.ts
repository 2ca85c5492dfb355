import { writeFileSync } from 'node:fs';
import type { Directory } from '../../lib/access/directory.ts';
import { directoryStore } from '../../lib/access/directory-store.ts';
import { neededAtSend } from '../../lib/messages/request/needed-at-send.ts';
import { type TemplateStore, templateStore } from '../../lib/templates/model/template-store.ts';
import { CommandError, callersPath, clientIdOf, commandLine, runCommand } from './command.ts';
import { targetOf } from './target.ts';
import { type TypedTemplate, templateTypes } from './template-types/text.ts';

const usage = `npm run template-types -- --client ID [--stage NAME] [--out FILE]

Writes TypeScript types of the templates that a client can send now, so that a send with a wrong name, language, number of
values or header does not compile. Write a send as sendOf({ ... }): it finds the template by name and language, and what the
compiler says of a wrong one speaks of that template. Without --out, on stdout (npm run --silent template-types -- ... > FILE).

  --client ID    whose templates
  --out FILE     written there, replaced when it exists
  --stage NAME   a deployment on AWS; without it, the running local stack

What is stored counts: synchronize first. Limits of length are not types; a send tells them.`;

const options = {
  client: { type: 'string' },
  out: { type: 'string' },
  stage: { type: 'string' },
  help: { type: 'boolean' },
} as const;

export interface TemplatesAt {
  readonly directory: Pick<Directory, 'hasClient' | 'listWabas'>;
  readonly templates: Pick<TemplateStore, 'rowsOf' | 'factsOf'>;
}

/** Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 for an unknown client. */
export async function templateTypesCommand(
  typed: readonly string[],
  open: (stage: string | undefined) => TemplatesAt | Promise<TemplatesAt>,
  { print, write }: { readonly print: (text: string) => void; readonly write: (path: string, text: string) => void },
): Promise<void> {
  const { values } = commandLine({ args: [...typed], options });
  if (values.help) return print(usage);
  const clientId = clientIdOf(values.client);
  const stores = await open(values.stage);
  if (!(await stores.directory.hasClient(clientId))) throw new CommandError(`There is no client ${clientId}.`, 1);
  const text = templateTypes(clientId, await sendableTemplates(stores, clientId));
  if (values.out === undefined) print(text.trimEnd());
  else write(callersPath(values.out), text);
}

/** Returns the templates that a send would accept, by what is stored. */
async function sendableTemplates({ directory, templates }: TemplatesAt, clientId: number): Promise<TypedTemplate[]> {
  const [rows, wabas] = await Promise.all([templates.rowsOf(clientId), directory.listWabas(clientId)]);
  const wabaIds = new Set(wabas.map(({ wabaId }) => wabaId));
  const live = rows.filter(({ wabaId, deleted, active }) => !deleted && active && wabaIds.has(wabaId));
  const found: TypedTemplate[] = [];
  for (let at = 0; at < live.length; at += factsAtOnce) {
    const page = live.slice(at, at + factsAtOnce);
    const facts = await templates.factsOf(page);
    for (const row of page) {
      const template = facts.get(row.templateKey)?.template;
      const { sendable, parameters } = template === undefined ? nothing : neededAtSend(template);
      if (sendable.can && parameters !== undefined) found.push({ name: row.name, language: row.language, parameters });
    }
  }
  return found;
}

/** The store takes this many in a batch. */
const factsAtOnce = 100;
const nothing = { sendable: { can: false }, parameters: undefined };

async function openStage(stage: string | undefined): Promise<TemplatesAt> {
  const { documentClient, tableName } = await targetOf(stage);
  return {
    directory: directoryStore(documentClient, tableName('directory')),
    templates: templateStore(documentClient, tableName('templates')),
  };
}

if (import.meta.main) {
  const write = (path: string, text: string) => writeFileSync(path, text);
  await runCommand(() => templateTypesCommand(process.argv.slice(2), openStage, { print: console.log, write }));
}
