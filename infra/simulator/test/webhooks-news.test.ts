import { describe, expect, test } from 'vitest';
import { bodyOf, creation, otp } from './support/definitions.ts';
import { receiverOfFile } from './support/receiver-of-file.ts';
import { firstNumber, firstWaba, simulatorOfFile } from './support/simulator.ts';

const orderUpdate = '1100000000000001';
const simulator = simulatorOfFile({ afresh: true });
const receiver = receiverOfFile(simulator);
const { wait, told } = receiver;

describe('news of templates', () => {
  const named = {
    message_template_id: Number(orderUpdate),
    message_template_name: 'order_update',
    message_template_language: 'en-US',
  };
  const values = async () => (await told()).map(({ field, value }) => [field, value]);
  const change = (changes: object) => simulator.control('POST', `templates/${orderUpdate}`, changes);

  test('a review: PENDING, then what came of it', async () => {
    const { body } = await simulator.post(`${firstWaba}/message_templates`, creation());
    await simulator.post(
      `${firstWaba}/message_templates`,
      creation({ name: 'bad', components: [bodyOf('Buy REJECT_SCAM now.')] }),
    );
    await wait(60);
    const news = receiver.updates();
    expect(news.map(({ field, value }) => [field, value.message_template_name, value.event, value.reason])).toEqual([
      ['message_template_status_update', 'order_ready', 'PENDING', 'NONE'],
      ['message_template_status_update', 'bad', 'PENDING', 'NONE'],
      ['message_template_status_update', 'order_ready', 'APPROVED', 'NONE'],
      ['message_template_status_update', 'bad', 'REJECTED', 'SCAM'],
    ]);
    expect(news[2]?.value).toMatchObject({
      message_template_id: Number(body.id),
      message_template_category: 'MARKETING',
    });
    expect(news[3]?.value.rejection_info).toEqual({ reason: expect.any(String), recommendation: expect.any(String) });
  });

  test('several languages at once: approved, each by itself', async () => {
    const components = otp();
    const codes = { name: 'codes', languages: ['en_US', 'es'], category: 'AUTHENTICATION', components };
    await simulator.post(`${firstWaba}/upsert_message_templates`, codes);
    const news = (await told()).map(({ value }) => [value.message_template_language, value.event]);
    expect(news).toEqual([
      ['en-US', 'APPROVED'],
      ['es', 'APPROVED'],
    ]);
  });

  test('pauses, their ends, and DISABLED', async () => {
    for (const seconds of [3 * 3_600, 6 * 3_600, 0]) {
      await simulator.control('POST', `templates/${orderUpdate}/pause`);
      await wait(seconds);
    }
    const news = receiver.updates().map(({ value }) => [value.event, value.other_info.title, value.disable_info]);
    expect(news).toEqual([
      ['PAUSED', 'FIRST_PAUSE', undefined],
      ['APPROVED', 'UNPAUSE', undefined],
      ['PAUSED', 'SECOND_PAUSE', undefined],
      ['APPROVED', 'UNPAUSE', undefined],
      ['DISABLED', 'DISABLED', { disable_date: '1795208400' }],
    ]);
  });

  test('quality and category by control', async () => {
    await change({ quality_score: { score: 'RED' } });
    await change({ category: 'MARKETING' });
    await change({ correct_category: 'UTILITY' });
    expect(await values()).toEqual([
      ['message_template_quality_update', { ...named, previous_quality_score: 'GREEN', new_quality_score: 'RED' }],
      ['template_category_update', { ...named, previous_category: 'UTILITY', new_category: 'MARKETING' }],
      [
        'template_category_update',
        {
          ...named,
          new_category: 'MARKETING',
          correct_category: 'UTILITY',
          category_update_timestamp: 1_795_176_000 + 86_400,
        },
      ],
    ]);
  });

  test('an edit tells the components first', async () => {
    const components = [
      { type: 'HEADER', format: 'TEXT', text: 'News' },
      bodyOf('Hello {{1}}, look again.'),
      { type: 'FOOTER', text: 'Andes' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Visit', url: 'https://andes.example.com' }] },
    ];
    await simulator.post(orderUpdate, { components });
    const [first, second] = await values();
    expect(first).toEqual([
      'message_template_components_update',
      {
        ...named,
        message_template_element: 'Hello {{1}}, look again.',
        message_template_title: 'News',
        message_template_footer: 'Andes',
        message_template_buttons: [
          {
            message_template_button_type: 'URL',
            message_template_button_text: 'Visit',
            message_template_button_url: 'https://andes.example.com',
          },
        ],
      },
    ]);
    expect(second).toEqual(['message_template_status_update', expect.objectContaining({ event: 'PENDING' })]);
  });

  test('a deletion, planned or done; nothing where nothing changed', async () => {
    await change({ message_send_ttl_seconds: 60 });
    await change({ status: 'PENDING_DELETION' });
    await simulator.call('DELETE', `/v25.0/${firstWaba}/message_templates?name=welcome_offer`);
    const news = (await told()).map(({ value }) => [value.message_template_name, value.event, value.reason]);
    expect(news).toEqual([
      ['order_update', 'PENDING_DELETION', null],
      ['welcome_offer', 'DELETED', 'NONE'],
    ]);
  });
});

describe('news of numbers', () => {
  const change = (changes: object) => simulator.control('POST', `numbers/${firstNumber}`, changes);

  test('a throughput that rises is told; nothing of quality, limit, or a throughput that falls', async () => {
    await change({ quality_rating: 'RED' });
    await change({ whatsapp_business_manager_messaging_limit: 'TIER_2K' });
    for (const level of ['STANDARD', 'NOT_APPLICABLE']) await change({ throughput: { level } });
    expect(await told()).toEqual([]);
    await change({ throughput: { level: 'HIGH' } });
    expect((await told()).map(({ field, value }) => [field, value])).toEqual([
      [
        'phone_number_quality_update',
        {
          display_phone_number: '5491100000001',
          event: 'THROUGHPUT_UPGRADE',
          current_limit: 'TIER_2K',
          max_daily_conversations_per_business: 'TIER_2K',
        },
      ],
    ]);
  });

  test('a status alone tells nothing; another throughput counts at once', async () => {
    await simulator.control('POST', `numbers/${firstNumber}`, { status: 'RESTRICTED' });
    expect(await told()).toEqual([]);
    await simulator.control('POST', `numbers/${firstNumber}`, { throughput: { level: 'STANDARD' } });
    const [number] = (await simulator.control('GET', 'sending')).body.data;
    expect(number).toMatchObject({ phone_number_id: firstNumber, limit_per_second: 80 });
  });
});
