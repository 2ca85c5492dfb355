/*
 * The fields of the platform's webhooks that the service reads (platform reference, 10.2 and 10.3), by what they tell of. An app
 * that is to tell a stage subscribes all of them: what it does not subscribe the platform tells no one.
 */

export const templateFields = [
  'message_template_status_update',
  'template_category_update',
  'message_template_quality_update',
  'message_template_components_update',
] as const;

/** The people that a portfolio may write to in a day are told of each of its numbers when these are read. */
export const numberFields = ['phone_number_quality_update', 'account_update', 'business_capability_update'] as const;

/** What becomes of messages, what people write and wish; `standby` where another program answers them. */
export const messageFields = ['messages', 'standby', 'user_preferences'] as const;

export const webhookFields: readonly string[] = [...messageFields, ...templateFields, ...numberFields];
