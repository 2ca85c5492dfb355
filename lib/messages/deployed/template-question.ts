import { deployedDirectory } from '../../access/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import { deployedTemplates } from '../../templates/deployed/templates.ts';
import { platformTemplates } from '../../templates/model/platform-templates.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { holdStore } from '../holds/hold-store.ts';
import { keepReading } from '../holds/keep-reading.ts';
import { askTemplate } from '../holds/template-question.ts';
import { platformCallTimeoutMs } from '../send/deadlines.ts';
import { seenHolds } from '../sender/seen-holds.ts';
import type { SenderPorts } from '../sender/sender-ports.ts';
import { messagesTable } from './messages-table.ts';

/** Reads the template of a hold from the platform, and stores what it says. */
export function deployedTemplateQuestion(): SenderPorts['holds']['askTemplate'] {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const table = messagesTable();
  const templates = deployedTemplates();
  const ports = {
    templates,
    keepReading: keepReading({ ...deployedDirectory(), templates, events: deployedEvents() }),
    platformTemplates: platformTemplates(call, credentialOf),
    nowMs: table.nowMs,
    log,
  };
  const wabas = holdStore(table);
  return (asked, by, saw) => askTemplate(asked, by, { ...ports, wabas: seenHolds(wabas, saw) });
}
