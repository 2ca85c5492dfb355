import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstWaba, secondWaba, simulatorAtRest, simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile();

const list = (waba: string, query: Record<string, string> = {}) =>
  simulator.get(`${waba}/message_templates`, { limit: '500', ...query });
const namesOf = (answer: { body: { data: { name: string }[] } }) => answer.body.data.map((template) => template.name);

describe('the demo data', () => {
  test('first WABA: every template of the table, with status, language and category', async () => {
    const { body } = await list(firstWaba);
    const rows = body.data.map(
      (t: Record<string, string>) => `${t['name']} ${t['language']} ${t['category']} ${t['status']}`,
    );
    expect(rows).toEqual([
      'order_update en_US UTILITY APPROVED',
      'welcome_offer es MARKETING APPROVED',
      'login_code en_US AUTHENTICATION APPROVED',
      'store_visit en_US UTILITY APPROVED',
      'spring_picks en_US MARKETING APPROVED',
      'single_pick en_US MARKETING APPROVED',
      'city_tour en_US MARKETING APPROVED',
      'coupon_drop en_US MARKETING APPROVED',
      'bid_offer en_US MARKETING APPROVED',
      'named_params en_US UTILITY APPROVED',
      'summer_sale es MARKETING PENDING',
      'old_notice en_US UTILITY DISABLED',
      'spring_rejected es MARKETING REJECTED',
      'paused_promo es MARKETING PAUSED',
      'tent_video en_US MARKETING APPROVED',
      'invoice_file en_US UTILITY APPROVED',
      'weekend_offer en_US MARKETING APPROVED',
      'full_catalog en_US MARKETING APPROVED',
      'visit_survey en_US UTILITY APPROVED',
      'call_back en_US UTILITY APPROVED',
      'help_menu en_US UTILITY APPROVED',
    ]);
  });

  test('second WABA: appointment_reminder and 113 generated ones, mixed, one category per name', async () => {
    const { body } = await list(secondWaba, { fields: 'id,name,language,status,category,quality_score' });
    expect(body.data).toHaveLength(114);
    expect(body.data[0]).toMatchObject({ name: 'appointment_reminder', language: 'pt_BR', status: 'APPROVED' });
    const distinct = (read: (t: Record<string, string>) => unknown) => new Set(body.data.map(read)).size;
    expect(distinct((t) => t['id'])).toBe(114);
    expect(distinct((t) => `${t['name']} ${t['language']}`)).toBe(114);
    expect(distinct((t) => t['language'])).toBe(4);
    expect(distinct((t) => t['category'])).toBe(3);
    expect(distinct((t) => t['status'])).toBeGreaterThanOrEqual(7);
    expect(distinct((t) => `${t['name']} ${t['category']}`)).toBe(distinct((t) => t['name']));
    const again = await simulatorAtRest();
    const { body: repeated } = await again.get(`${secondWaba}/message_templates`, { limit: '500' });
    await again.stop();
    expect(repeated.data).toEqual((await list(secondWaba)).body.data);
  });
});

describe('filters', () => {
  test.each([
    [{ name: 'spring' }, ['spring_picks', 'spring_rejected']],
    [{ content: 'TRACK order' }, ['order_update']],
    [{ content: 'old town' }, ['city_tour']],
    [{ name_or_content: 'paused' }, ['paused_promo']],
    [{ language: 'es' }, ['welcome_offer', 'summer_sale', 'spring_rejected', 'paused_promo']],
    [{ language: '["es","pt_BR"]', status: '["PENDING"]' }, ['summer_sale']],
    [{ status: 'paused' }, ['paused_promo']],
    [{ status: '["DISABLED","REJECTED"]' }, ['old_notice', 'spring_rejected']],
    [{ category: '["AUTHENTICATION"]' }, ['login_code']],
    [{ quality_score: 'YELLOW' }, ['coupon_drop']],
    [{ source: 'AUTO_GENERATED' }, []],
    [{ since: '2026-10-21', name: 'order' }, []],
    [{ since: '1792400000', until: '2026-10-21', name: 'order' }, ['order_update']],
  ])('%o', async (query, names) => {
    const answer = await list(firstWaba, query as Record<string, string>);
    expect(answer.status).toBe(200);
    expect(namesOf(answer)).toEqual(names);
  });

  test.each([
    [{ status: 'BOGUS' }, /Param status must be one of \{APPROVED, .*\} - got "BOGUS"/],
    [{ category: '["SERVICE"]' }, /Param category must be one of/],
    [{ language: '[1]' }, /Param language must be an array/],
    [{ since: 'soon' }, /Param since must be a valid datetime/],
    [{ limit: '0' }, /Param limit must be greater than or equal to 1/],
    [{ limit: '-3' }, /Param limit must be an integer/],
    [{ after: 'xyz' }, /Param after is not a valid cursor/],
    [{ fields: 'name,bogus' }, /nonexisting field \(bogus\) on node type \(MessageTemplate\)/],
    [{ summary: 'bogus' }, /bogus/],
  ])('%o is refused with code 100', async (query, message) => {
    const answer = await list(firstWaba, query as Record<string, string>);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: 100,
      type: 'OAuthException',
      message: expect.stringMatching(message),
    });
    expect(answer.body.error.fbtrace_id).toMatch(/^A[\w-]{22}$/);
  });
});

describe('fields', () => {
  test('default: no quality score, no rejection reason', async () => {
    const { body } = await list(firstWaba, { name: 'order_update' });
    expect(Object.keys(body.data[0]).sort()).toEqual(
      ['category', 'components', 'id', 'language', 'name', 'parameter_format', 'status', 'sub_category'].sort(),
    );
  });

  test('asked for: exactly these and id, subfields too; absent ones are left out', async () => {
    const { body } = await list(firstWaba, {
      name: 'spring_rejected',
      fields: 'name,quality_score{score},rejected_reason,previous_category',
    });
    expect(body.data).toEqual([
      {
        id: '1100000000000013',
        name: 'spring_rejected',
        quality_score: { score: 'UNKNOWN' },
        rejected_reason: 'PROMOTIONAL',
      },
    ]);
  });

  test('summary counts what the filter found and what there is', async () => {
    const { body } = await list(firstWaba, { status: 'APPROVED', summary: 'total_count,message_template_count' });
    expect(body.summary).toEqual({ total_count: 17, message_template_count: 21 });
  });
});

describe('components as read', () => {
  const componentsOf = async (name: string) =>
    (await list(firstWaba, { name, fields: 'components' })).body.data[0].components;

  test('media handles are https addresses, in cards too', async () => {
    const [header] = await componentsOf('welcome_offer');
    expect(header.example.header_handle).toEqual([expect.stringMatching(/^https:\/\/scontent\./)]);
    const [, carousel] = await componentsOf('city_tour');
    const handles = carousel.cards.map(
      (card: { components: { example: { header_handle: string[] } }[] }) =>
        card.components[0]?.example.header_handle[0],
    );
    expect(handles).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)]);
    expect(handles[0]).not.toBe(handles[1]);
  });

  test.each([
    ['welcome_offer', 'image/png'],
    ['tent_video', 'video/mp4'],
    ['invoice_file', 'application/pdf'],
  ])('the address in %s leads to a file of the type %s, without a token', async (name, type) => {
    const [header] = await componentsOf(name);
    const reply = await fetch(`${simulator.url}${new URL(header.example.header_handle[0]).pathname}`);
    expect([reply.headers.get('content-type'), (await reply.bytes()).byteLength > 20]).toEqual([type, true]);
  });

  test('an OTP button is a URL button, and the fixed texts are spelled out', async () => {
    const [body, footer, buttons] = await componentsOf('login_code');
    expect(body.text).toBe('*{{1}}* is your verification code. For your security, do not share this code.');
    expect(footer.text).toBe('This code expires in 10 minutes.');
    expect(buttons.buttons).toEqual([
      {
        type: 'URL',
        text: 'Copy code',
        url: expect.stringMatching(/otp_type=COPY_CODE&code=otp\{\{1\}\}$/),
        example: [expect.any(String)],
      },
    ]);
  });
});

describe('one template', () => {
  test('by id, as the list shows it', async () => {
    const { body } = await list(firstWaba, { name: 'coupon_drop' });
    const one = await simulator.get(body.data[0].id);
    expect(one.body).toEqual(body.data[0]);
  });

  test('unknown id: 400, code 100, subcode 33', async () => {
    const { status, body } = await simulator.get('999999');
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 100, error_subcode: 33, type: 'GraphMethodException' });
  });
});

describe('paging', () => {
  test('25 by default; next only when a page follows', async () => {
    const { body } = await simulator.get(`${secondWaba}/message_templates`);
    expect(body.data).toHaveLength(25);
    expect(body.paging).toEqual({
      cursors: { before: expect.any(String), after: expect.any(String) },
      next: expect.stringMatching(/^http:.*\/v25\.0\/200000000000002\/message_templates\?.*after=/),
    });
    const all = await list(secondWaba);
    expect(Object.keys(all.body.paging)).toEqual(['cursors']);
  });

  test('nothing found: no paging at all', async () => {
    expect((await list(secondWaba, { name: 'no_such' })).body).toEqual({ data: [] });
  });

  test('pages for any limit, forwards and backwards, make up the whole list', async () => {
    const whole = (await list(secondWaba)).body.data;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4, max: 130 }), async (limit) => {
        let url: string | undefined = `/v25.0/${secondWaba}/message_templates?limit=${limit}`;
        const forwards: unknown[] = [];
        let last: string | undefined;
        while (url !== undefined) {
          const { body } = await simulator.call('GET', url);
          forwards.push(...body.data);
          last = url;
          url = body.paging.next?.slice(simulator.url.length);
        }
        expect(forwards).toEqual(whole);
        const backwards: unknown[] = [];
        url = last;
        while (url !== undefined) {
          const { body } = await simulator.call('GET', url);
          backwards.unshift(...body.data);
          url = body.paging.previous?.slice(simulator.url.length);
        }
        expect(backwards).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });

  test('a template added or removed meanwhile moves no other one to another page', async () => {
    const own = await simulatorAtRest();
    const first = await own.get(`${secondWaba}/message_templates`, { limit: '10' });
    await own.control('DELETE', `templates/${first.body.data[3].id}`);
    const second = await own.call('GET', first.body.paging.next.slice(own.url.length));
    const whole = (await list(secondWaba)).body.data;
    expect(second.body.data).toEqual(whole.slice(10, 20));
    await own.stop();
  });
});
