import { documents, environmentVariable } from '../../aws/deployed.ts';
import { log } from '../../observe/log.ts';
import { templateStore } from '../../templates/model/template-store.ts';
import { applyAccountUpdates } from '../holds/account-updates.ts';
import { holdStore } from '../holds/hold-store.ts';
import { heedReadings, heedWord, type StricterWord, type TemplateName } from '../holds/template-holds.ts';
import { messagesTable } from './messages-table.ts';

export function deployedAccountUpdates() {
  const table = messagesTable();
  const { change } = holdStore(table);
  return { applyAccountUpdates: applyAccountUpdates({ changeHolds: change, nowMs: table.nowMs }) };
}

export type TemplateHolds = ReturnType<typeof deployedTemplateHolds>;

/** Builds what stops the messages of a template by a word, and what lets them go on after readings (D42, D46). */
export function deployedTemplateHolds() {
  const table = messagesTable();
  const { nowMs } = table;
  const templates = templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
  const ports = { holds: holdStore(table), templates, nowMs, log };
  return {
    templateHolds: {
      heedWord: (template: TemplateName & { readonly wabaId: string }, word: StricterWord) =>
        heedWord(template, word, ports),
      heedReadings: (wabaId: string) => heedReadings(wabaId, ports),
    },
  };
}
