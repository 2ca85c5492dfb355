import { writeFileSync } from 'node:fs';
import type { Directory } from '../../../lib/access/directory.ts';
import { directoryStore } from '../../../lib/access/directory-store.ts';
import { neededAtSend } from '../../../lib/messages/request/needed-at-send.ts';
import { type TemplateStore, templateStore } from '../../../lib/templates/model/template-store.ts';
import {
  type Command,
  CommandError,
  type CommandWords,
  callersPath,
  clientIdOf,
  commandLine,
  helpOption,
  stageOption,
} from '../command.ts';
import { targetOf } from '../target.ts';
import { type TypedTemplate, templateTypes } from './template-types/text.ts';

const options = {
  client: { type: 'string', value: 'ID', about: 'whose templates' },
  out: { type: 'string', value: 'FILE', about: 'written there, replaced when it exists; else on stdout' },
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: ['template-types --client ID [--out FILE]'],
  about: `Writes TypeScript types of the templates that a client can send now, so that a send with a wrong name, language,
number of values or header does not compile. Write a send as sendOf({ ... }): it finds the template by name and
language, and what the compiler says of a wrong one speaks of that template.

What is stored counts: synchronize first. Limits of length are not types; a send tells them.`,
  options,
};

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

export const command: Command = {
  words,
  run: (typed) =>
    templateTypesCommand(typed, openStage, {
      print: console.log,
      write: (path, text) => writeFileSync(path, text),
    }),
};
