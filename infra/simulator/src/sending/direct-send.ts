import { createHash } from 'node:crypto';
import { graphError, messagingError } from '../errors.ts';
import { tiers } from '../portfolios/messaging-limits.ts';
import type { World } from '../state.ts';
import { type Template, timeText } from '../templates/template.ts';
import type { Waba } from '../wabas.ts';
import type { MessageBody } from './message-body.ts';
import type { Recipient } from './recipient.ts';

const timesToLive = { UTILITY: [30, 43_200], AUTHENTICATION: [30, 900] } as const;

const notEnabled =
  "Parameter Invalid: The 'category' value requires Direct Send, which isn't enabled for this account. Use an approved message template instead.";

/** Refuses parameters of Direct Send in a message without a category. */
export function refusePartsOfDirectSend({ ttl_seconds: seconds, direct_send_config: config }: MessageBody): void {
  if (seconds !== undefined) throw messagingError(100, "Parameter Invalid: 'ttl_seconds' requires 'category'");
  if (config !== undefined) throw messagingError(100, "Parameter Invalid: 'direct_send_config' requires 'category'");
}

/**
 * Makes a template from a text with a category (Direct Send; platform reference, 2.3). The WABA needs the permission
 * and a messaging limit of at least 100,000.
 */
export function directSend(
  world: World,
  waba: Waba,
  { body, recipient, text }: { readonly body: MessageBody; readonly recipient: Recipient; readonly text: string },
): Template {
  const category = (body.category ?? '').toUpperCase() as keyof typeof timesToLive;
  const limit = String(waba.fields['whatsapp_business_manager_messaging_limit']);
  if (world.directSend.get(waba.id) === 'BLOCKED') throw messagingError(139200);
  const isLarge = Object.entries(tiers).some(([tier, people]) => tier === limit && people >= tiers.TIER_100K);
  if (!isLarge || !world.directSend.has(waba.id)) throw messagingError(100, notEnabled);
  const [least, most] = timesToLive[category];
  const seconds = body.ttl_seconds ?? least;
  if (seconds < least || seconds > most) {
    throw messagingError(100, `Parameter Invalid: 'ttl_seconds' must be ${least} to ${most}`);
  }
  if (category === 'AUTHENTICATION' && recipient.scopedUser) {
    throw messagingError(131062, 'Business-scoped User ID (BSUID) recipients are not supported for this message.');
  }
  return generatedTemplate(world, waba, { category, text, name: body.direct_send_config?.template_name });
}

const language = 'en_US';

function generatedTemplate(
  world: World,
  waba: Waba,
  {
    category,
    text,
    name: given,
  }: { readonly category: string; readonly text: string; readonly name?: string | undefined },
): Template {
  const name = given ?? `auto_generated_text_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const known = world.templates.find(waba.id, name, language);
  if (known !== undefined && known.fields.source !== 'AUTO_GENERATED') {
    throw graphError(100, `(#100) Param direct_send_config['template_name'] is the name of a template: ${name}.`);
  }
  const nowMs = world.clock.nowMs();
  const fields = {
    ...{ name, language, category, source: 'AUTO_GENERATED', status: 'APPROVED', parameter_format: 'POSITIONAL' },
    components: [{ type: 'BODY', text }],
    last_updated_time: timeText(nowMs),
  };
  if (known?.components[0]?.text === text) return known;
  return known === undefined ? world.templates.add(waba.id, fields) : world.templates.replace(known, fields);
}
