import { listCatalogs } from './catalogs/read.ts';
import { Edge, type NodeFields, type NodeShape, selection } from './fields.ts';
import { numberHealth, wabaHealth } from './health.ts';
import { pageOf } from './paging.ts';
import type { PlatformRequest } from './platform-request.ts';
import { json, type Reply } from './reply.ts';
import type { World } from './state.ts';
import { listTemplates } from './templates/read.ts';
import type { PhoneNumber, Waba } from './wabas.ts';
import { subscribedApps } from './webhooks/subscriptions.ts';

export const wabaShape: NodeShape = {
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
    'analytics',
    'creation_time',
    'is_enabled_for_insights',
    'linked_commerce_account',
    'marketing_messages_lite_api_status',
    'owner_business',
    'primary_funding_id',
    'purchase_order_number',
    'message_templates',
    'phone_numbers',
    'product_catalogs',
    'subscribed_apps',
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
    'certificate',
    'conversational_automation',
    'eligibility_for_api_business_global_search',
    'health_status',
    'host_platform',
    'is_preverified_number',
    'new_certificate',
    'new_display_name',
    'new_name_status',
    'official_business_account',
    'quality_score',
    'search_visibility',
    'unified_cert_status',
  ],
};

const largestPage = 100;

/** Answers `GET /{waba_id}` (platform reference, 8), with its lists among the fields. */
export function readWaba(world: World, waba: Waba, request: PlatformRequest): Reply {
  return json(selection(request.query.get('fields'), wabaShape)(wabaNode(world, waba, request)));
}

/** `request.self` must be the address of the WABA. */
export function wabaNode(world: World, waba: Waba, request: PlatformRequest): NodeFields {
  const edge = (name: string, list: (within: PlatformRequest) => Reply) =>
    new Edge((query) => {
      const reply = list({ ...request, query, self: `${request.self.replace(/\/$/, '')}/${name}` });
      return reply.kind === 'json' ? reply.body : undefined;
    });
  return {
    primary_funding_id: `7${waba.id.slice(1)}`,
    ...waba.fields,
    ...(cannotPay(world, waba) ? { primary_funding_id: undefined } : {}),
    health_status: wabaHealth(world, waba),
    message_templates: edge('message_templates', (within) => listTemplates(world, waba, within)),
    phone_numbers: edge('phone_numbers', (within) => listNumbers(world, waba, within)),
    product_catalogs: edge('product_catalogs', (within) => listCatalogs(waba, within)),
    subscribed_apps: subscribedApps(world, waba.id),
  };
}

function cannotPay(world: World, waba: Waba): boolean {
  return world.holds.on(waba.id).some(({ kind }) => kind.code === 131042);
}

/** Answers `GET /{waba_id}/phone_numbers`, in seed order; `sort` and `filtering` are not simulated. */
export function listNumbers(world: World, waba: Waba, request: PlatformRequest): Reply {
  const select = selection(request.query.get('fields'), numberShape);
  const page = pageOf(waba.numbers, { query: request.query, self: request.self, maximum: largestPage });
  return json({
    data: page.items.map((node) => select(nodeOf(world, node))),
    paging: page.paging,
  });
}

/** Answers `GET /{phone_number_id}`. */
export function readNumber(world: World, number: PhoneNumber, request: PlatformRequest): Reply {
  return json(selection(request.query.get('fields'), numberShape)(nodeOf(world, number)));
}

/** Some facts have two names, and some are derived. */
function nodeOf(world: World, number: PhoneNumber) {
  const { fields } = number;
  return {
    host_platform: fields['platform_type'],
    quality_score: { score: fields['quality_rating'] ?? 'UNKNOWN' },
    health_status: numberHealth(world, number),
    ...fields,
  };
}
