import * as v from 'valibot';
import { omitUndefined } from '../keys/omit-undefined.ts';
import { log } from '../observe/log.ts';
import type { CredentialOf } from '../platform/credentials.ts';
import { readList } from '../platform/list-page.ts';
import type { PlatformTransport } from '../platform/transport.ts';
import type { WabaAccess } from '../platform/waba-access.ts';
import type { LiveValues, PlatformNumber } from './channel.ts';

export interface NumberPage {
  readonly numbers: readonly PlatformNumber[];
  /** The last page has none. */
  readonly after?: string;
}

export interface PlatformNumbers {
  /** Reads one page of at most 100; the first has no cursor. Does not retry. Throws `PlatformFailure`. */
  page(waba: WabaAccess, after?: string): Promise<NumberPage>;
}

const pageSize = 100;

const text = v.optional(v.string());

const NumberSchema = v.object({
  id: v.string(),
  display_phone_number: text,
  status: text,
  quality_rating: text,
  country_dial_code: text,
  whatsapp_business_manager_messaging_limit: text,
  is_on_biz_app: v.optional(v.boolean()),
  last_onboarded_time: text,
  throughput: v.optional(v.object({ level: text })),
  webhook_configuration: v.optional(
    v.object({ phone_number: text, whatsapp_business_account: text, application: text }),
  ),
});

const fields = Object.keys(NumberSchema.entries).join(',');

export function platformNumbers(call: PlatformTransport, credentialOf: CredentialOf): PlatformNumbers {
  return {
    page: async (waba, after) => {
      const { accessToken } = await credentialOf(waba.credential);
      const query = { fields, limit: String(pageSize), ...omitUndefined({ after }) };
      const reply = await call({
        method: 'GET',
        path: `${waba.wabaId}/phone_numbers`,
        query,
        accessToken,
        wabaId: waba.wabaId,
      });
      const page = readList(reply, after);
      const numbers: PlatformNumber[] = [];
      for (const entry of page.entries) {
        const number = v.safeParse(NumberSchema, entry);
        if (number.success) numbers.push({ phoneNumberId: number.output.id, live: liveValues(number.output) });
      }
      const unreadable = page.entries.length - numbers.length;
      if (unreadable > 0) log('platform.number_unreadable', { wabaId: waba.wabaId, count: unreadable });
      return { numbers, after: page.after };
    },
  };
}

function liveValues(number: v.InferOutput<typeof NumberSchema>): LiveValues {
  const dialCode = number.country_dial_code;
  const webhook = number.webhook_configuration;
  return {
    status: number.status === 'CONNECTED' ? 'ACTIVE' : number.status,
    currentLimit: number.whatsapp_business_manager_messaging_limit,
    qualityRating: number.quality_rating,
    isOnBizApp: number.is_on_biz_app,
    phoneCode: dialCode,
    phoneNumber: nationalNumber(number.display_phone_number, dialCode),
    registeredAt: isoTime(number.last_onboarded_time),
    // The narrowest webhook is in force.
    externalWebhook: webhook?.phone_number ?? webhook?.whatsapp_business_account ?? webhook?.application,
    throughputLevel: number.throughput?.level,
  };
}

function nationalNumber(displayed: string | undefined, dialCode = ''): string | undefined {
  const digits = displayed?.replaceAll(/\D/g, '');
  return digits?.startsWith(dialCode) ? digits.slice(dialCode.length) : digits;
}

/** The platform spells times with an offset such as `+0000`. */
function isoTime(spelled: string | undefined): string | undefined {
  const ms = spelled === undefined ? Number.NaN : Date.parse(spelled);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
