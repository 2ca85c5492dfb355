import { demoSeed } from '../../src/seed.ts';
import { checkComponents } from '../../src/sending/component-checks.ts';
import { parseMessageBody } from '../../src/sending/message-body.ts';
import { TemplateStore } from '../../src/templates/template-store.ts';
import { refusalIn } from './refusals.ts';
import { firstWaba, templateMessage } from './simulator.ts';

const templates = new TemplateStore();
for (const { node, templates: some } of demoSeed().wabas) {
  for (const { id, ...fields } of some) templates.add(node.id, fields, id);
}

/** Adds an approved template, which sends of the file may name. */
export function defineTemplate(name: string, category: string, components: readonly object[]): void {
  const fields = { name, language: 'en_US', status: 'APPROVED', category, components, parameter_format: 'POSITIONAL' };
  templates.add(firstWaba, fields as unknown as Parameters<TemplateStore['add']>[1]);
}

/** Asks the rule itself how a send of this template is refused; undefined when it is accepted. */
export function refusalOfSend(name: string, components: readonly unknown[], waba = firstWaba) {
  const [template] = templates.named(waba, name);
  if (template === undefined) throw new Error(`there is no template ${name}`);
  const context = { template, catalogIds: ['600000000000001'], nowMs: Date.parse('2026-11-20T12:00:00Z') };
  return refusalIn(() => {
    const { template: sent } = parseMessageBody('messages', templateMessage(name, components));
    checkComponents(context, sent?.components ?? []);
  });
}

/** The platform says this about a wrong number of parameters. */
export const mismatch = (received: number, expected: number) =>
  `number of localizable_params (${received}) does not match the expected number of params (${expected})`;
