import { present } from '../../lib/keys/present.ts';
import { type NodeShape, selection } from './fields.ts';
import { pageOf } from './paging.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { PhoneNumber, Waba } from './wabas.ts';

const wabaShape: NodeShape = {
  type: 'WhatsAppBusinessAccount',
  byDefault: ['id', 'name', 'currency', 'timezone_id', 'message_template_namespace'],
  known: [
    'id',
    'name',
    'status',
    'currency',
    'country',
    'timezone_id',
    'message_template_namespace',
    'account_review_status',
    'business_verification_status',
    'ownership_type',
    'owner_business_info',
    'on_behalf_of_business_info',
    'primary_business_location',
    'health_status',
    'is_shared_with_partners',
    'marketing_messages_onboarding_status',
    'whatsapp_business_manager_messaging_limit',
    'disable_marketing_messages_on_cloud_api',
    'template_auto_archival_enabled',
    'auth_international_rate_eligibility',
    'whatsapp_manager_marketing_messages_max_price_enroll_status',
  ],
};

const numberShape: NodeShape = {
  type: 'WhatsAppBusinessPhoneNumber',
  byDefault: [
    'verified_name',
    'code_verification_status',
    'display_phone_number',
    'quality_rating',
    'platform_type',
    'throughput',
    'last_onboarded_time',
    'webhook_configuration',
    'id',
  ],
  known: [
    'id',
    'display_phone_number',
    'verified_name',
    'status',
    'quality_rating',
    'code_verification_status',
    'name_status',
    'platform_type',
    'throughput',
    'country_code',
    'country_dial_code',
    'account_mode',
    'is_official_business_account',
    'messaging_limit_tier',
    'whatsapp_business_manager_messaging_limit',
    'is_on_biz_app',
    'is_pin_enabled',
    'last_onboarded_time',
    'username',
    'webhook_configuration',
  ],
};

const largestPage = 100;

/** `GET /{waba_id}` (platform reference, 8). */
export function readWaba(waba: Waba, request: PlatformRequest): Reply {
  return json(selection(request.query.get('fields'), wabaShape)(waba.fields));
}

/** `GET /{waba_id}/phone_numbers`, in the order of the seed; `sort` and `filtering` are not simulated. */
export function listNumbers(waba: Waba, request: PlatformRequest): Reply {
  const select = selection(request.query.get('fields'), numberShape);
  const page = pageOf(waba.numbers, { query: request.query, self: request.self, maximum: largestPage });
  return json({
    data: page.items.map((node) => select(node.fields)),
    ...present({ paging: page.paging }),
  });
}

/** `GET /{phone_number_id}`. */
export function readNumber(number: PhoneNumber, request: PlatformRequest): Reply {
  return json(selection(request.query.get('fields'), numberShape)(number.fields));
}
