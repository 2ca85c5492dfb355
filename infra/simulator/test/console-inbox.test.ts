import { describe, expect, test } from 'vitest';
import { photograph } from './support/browser.ts';
import { callbackReceiver } from './support/callback-receiver.ts';
import { browserOfFile, consoleOfFile, press, typeOver, untilSeen, violationsOf } from './support/console-page.ts';
import { body, button, firstNumber, firstWaba, recipient } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

interface Said {
  readonly messages?: readonly { readonly context?: unknown; readonly button?: object; readonly text?: object }[];
}

const browser = await browserOfFile();

describe.skipIf(browser === undefined)('the inbox of the console', () => {
  const { simulator, tab, textOf, sendAll } = consoleOfFile(browser);

  test('a message arrives while the page is open, and is shown as on the phone', async () => {
    const { page } = tab();
    await untilSeen(page, 'No messages yet');
    await simulator().send(recipient, { biz_opaque_callback_data: '01KAPQ5Z3M9T7V1XW2YB4C6D8E-7' });
    await untilSeen(page, '1 message');
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await untilSeen(page, 'Track order');
    expect(await textOf('.chat')).toContain('Hello Ana, your order A-1042 is on its way.');
    expect(await page.$eval('.chat a', (link) => (link as { href: string }).href)).toBe(
      'https://andes.example.com/orders/A-1042',
    );
    expect(await textOf('.facts')).toContain('01KAPQ5Z3M9T7V1XW2YB4C6D8E · all its messages\n');
  });

  test('every kind of message', async () => {
    const { page } = tab();
    await sendAll();
    const shown: Readonly<Record<string, readonly string[]>> = {
      welcome_offer: ['Image', 'Lo quiero'],
      login_code: ['482913 is your verification code', 'Copy code'],
      store_visit: ['Store', 'Av. Corrientes 1'],
      spring_picks: ['2 items', 'Picked for Ana this spring', 'View items'],
      single_pick: ['SKU-1', 'View'],
      city_tour: ['The harbour by boat, from $20 a person.', 'More like this', 'Book'],
      coupon_drop: ['Copy offer code', 'Shop now'],
      named_params: ['Hello Ana, order A-1042 is confirmed.'],
      tent_video: ['Video', 'Up in two minutes, Ana', 'What is in the bag:\n', 'the tent, 2.1 kg\n', '… Read more'],
      invoice_file: ['F-2207.pdf\n', 'PDF', 'Ask about it'],
      weekend_offer: ['Weekend sale\n', 'Code PEAK33', 'Copy offer code'],
      full_catalog: ['Two-person tent 3\n', '1.236,56', 'View catalog'],
      visit_survey: ['Answer'],
      call_back: ['Call us'],
      help_menu: ['Where is my parcel', 'Send something back', 'See all options'],
    };
    // The button itself says what it does: its code and its address are not shown again below.
    const hidden: readonly string[] = [
      'SAVE25',
      'https://andes.example.com/shop',
      'SKU-2',
      '+5491100000001',
      'visit-7',
    ];
    for (const [name, texts] of Object.entries(shown)) {
      await typeOver(page, 'input[type=search]', name);
      await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 1`);
      await page.click('[role=option]');
      await page.waitForFunction(`document.querySelector('.pairs a')?.textContent === '${name}'`);
      const chat = await textOf('.chat');
      expect(
        texts.filter((text) => !chat.includes(text)),
        name,
      ).toEqual([]);
      expect(
        hidden.filter((text) => chat.includes(text)),
        name,
      ).toEqual([]);
      expect(await textOf('.chat .bubble-time'), name).toMatch(/^\d\d:\d\d/);
      await photograph(page, `inbox-${name}`);
    }
  });

  test('a long text is opened; links lead only to the web', async () => {
    const { page } = tab();
    const { language, components } = validSends.tent_video;
    await simulator().send(recipient, { template: { name: 'tent_video', language: { code: language }, components } });
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await page.waitForSelector('.chat ol');
    const shapes = ['ul:not(.bubble-buttons) li', 'ol li', 'blockquote', 'strong', 'em', 's', 'code'];
    const counts = shapes.map((shape) => page.$$eval(`.bubble-text ${shape}`, (found) => found.length));
    expect(await Promise.all(counts)).toEqual([3, 3, 1, 1, 1, 1, 2]);
    const links = await page.$$eval('.bubble-text a', (found) =>
      found.map((link) => [...['href', 'rel', 'target'].map((name) => link.getAttribute(name)), link.textContent]),
    );
    expect(links).toEqual([
      ['https://andes.example.com/tents', 'noopener noreferrer', '_blank', 'andes.example.com/tents'],
      [
        ...['https://andes.example.com/tents?from=video', 'noopener noreferrer', '_blank'],
        'https://andes.example.com/tents?from=video',
      ],
    ]);
    expect(await textOf('.looks-linked')).toBe('+54 9 11 0000-0001');
    expect(await textOf('.bubble-text')).not.toContain('room for a lamp');
    await press(page, 'Read more');
    await untilSeen(page, 'room for a lamp.', '.bubble-text');
    // The focus moves to the text, because its button has gone.
    await page.waitForFunction(`document.querySelector('.bubble-text').matches(':focus')`);
  });

  test('of ten buttons two are shown and all in a list, which Escape closes; they work there too', async () => {
    const { page } = tab();
    for (const name of ['visit_survey', 'help_menu'] as const) {
      const { language, components } = validSends[name];
      await simulator().send(recipient, { template: { name, language: { code: language }, components } });
    }
    await untilSeen(page, '2 messages');
    await page.click('[role=option]');
    await untilSeen(page, 'See all options', '.chat');
    expect(await page.$$eval('.bubble-buttons li', (found) => found.length)).toBe(3);
    const focused = () => page.evaluate('document.activeElement.textContent');
    await press(page, 'See all options');
    await page.waitForSelector('[role=dialog] .sheet-buttons');
    expect(await page.$$eval('.sheet-buttons li', (found) => found.length)).toBe(10);
    expect(await page.$eval('.sheet-buttons a[href$="/account/ana"]', (link) => link.getAttribute('title'))).toBe(
      'Opens https://andes.example.com/account/ana',
    );
    expect(await violationsOf(page)).toEqual([]);
    await photograph(page, 'inbox-all-options');
    await page.keyboard.press('Escape');
    await page.waitForFunction(`document.querySelector('[role=dialog]') === null`);
    expect(await focused()).toBe('See all options');
    await press(page, 'See all options');
    await press(page, 'Payment');
    await untilSeen(page, 'Payment', '.bubble.mine');
    expect([await page.$('[role=dialog]'), await focused()]).toEqual([null, 'See all options']);
    await press(page, 'See all options');
    await page.waitForFunction(`document.querySelector('[role=dialog]')?.contains(document.activeElement)`);
    // A key that leaves the list closes it, and the focus stays.
    await page.focus('[role=listbox]');
    await page.waitForFunction(`document.querySelector('[role=dialog]') === null`);
    await page.keyboard.press('End');
    await press(page, 'Answer');
    await untilSeen(page, 'Sent', '.bubble.mine');
  });

  test('an offer has its code and what is left of its time on the clock of the simulator', async () => {
    const { page } = tab();
    const components = [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Ends soon', has_expiration: true } },
      { type: 'BODY', text: 'Hello {{1}}, only today.' },
      { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', example: ['SAVE'] }] },
    ];
    const made = { name: 'flash', language: 'en_US', category: 'MARKETING', components };
    await simulator().control('POST', 'templates', { waba_id: firstWaba, templates: [made] });
    const ends = { expiration_time_ms: Date.parse('2026-11-20T15:05:00Z') };
    const parts = [
      { type: 'limited_time_offer', parameters: [{ type: 'limited_time_offer', limited_time_offer: ends }] },
      body('Ana'),
      button('copy_code', 0, { type: 'coupon_code', coupon_code: 'FLASH1' }),
    ];
    const template = { name: 'flash', language: { code: 'en_US' }, components: parts };
    expect((await simulator().send(recipient, { template })).status).toBe(200);
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await untilSeen(page, 'Code FLASH1', '.offer');
    expect(await textOf('.offer')).toContain('Ends in 3 h 5 min');
    await simulator().control('POST', 'clock', { advance_seconds: 4 * 3_600 });
    await untilSeen(page, 'Offer ended', '.offer');
  });

  test('the recipient replies, reads and blocks; the platform fails it later', async () => {
    const { page } = tab();
    const template = {
      name: 'welcome_offer',
      language: { code: 'es' },
      components: validSends.welcome_offer.components,
    };
    await simulator().send(recipient, { template });
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await press(page, 'Lo quiero');
    await page.waitForSelector('.bubble.mine');
    await typeOver(page, 'aria/Reply[role="textbox"]', '¿Hasta cuándo?');
    await press(page, 'Reply');
    await untilSeen(page, '¿Hasta cuándo?');
    await typeOver(page, 'aria/Reply[role="textbox"]', 'مرحبا');
    await page.keyboard.press('Enter');
    await untilSeen(page, 'مرحبا');
    expect(await page.$eval('.bubble.mine:last-child .bubble-text', (text) => text.matches(':dir(rtl)'))).toBe(true);
    await press(page, 'Read now');
    await untilSeen(page, 'Read');
    await press(page, 'Block the business');
    await untilSeen(page, 'This recipient has blocked the business');
    await press(page, 'Fail later');
    await untilSeen(page, 'Failed 131026');
    const { body: one } = await simulator().control('GET', 'inbox');
    expect(one.data[0]).toMatchObject({ replies: 3 });
    expect((await simulator().control('GET', 'overview')).body.blocked).toEqual([recipient]);
    await photograph(page, 'inbox-actions');
    await press(page, 'Faults and clock', 'link');
    await press(page, `Unblock ${recipient}`);
    await page.waitForFunction(`document.getElementById('blocked') === null`);
    expect((await simulator().control('GET', 'overview')).body.blocked).toEqual([]);
  });

  test('the recipient stops marketing and resumes it, in the chat and in the list of stops', async () => {
    const { page } = tab();
    const other = '5491150000002';
    const stopped = async () =>
      (await simulator().control('GET', 'overview')).body.stopped.map((stop: { to: string; answer: string }) => [
        ...[stop.to, stop.answer],
      ]);
    await simulator().send(recipient);
    await simulator().send(other);
    await untilSeen(page, '2 messages');
    await page.click('[role=option]:last-child');
    await page.waitForFunction(`document.querySelector('.facts h2')?.textContent.includes('${recipient}')`);
    const marks = '.row-stopped, .count a, .facts h2 .badge, .chat-note';
    expect(await page.$$eval(marks, (found) => found.length)).toBe(0);
    await press(page, 'Stop marketing');
    await untilSeen(page, 'This recipient has stopped marketing', '.chat');
    await untilSeen(page, 'Stopped marketing', '.facts h2');
    await untilSeen(page, '1 stopped marketing', '.count');
    const badged = await page.$$eval('[role=option]', (rows) =>
      rows.map((row) => /stopped/.test(row.textContent ?? '')),
    );
    expect(badged).toEqual([false, true]);
    expect(await stopped()).toEqual([[recipient, 'failed']]);
    await photograph(page, 'inbox-stopped');
    await press(page, 'Resume marketing');
    await page.waitForFunction(`document.querySelector('${marks}') === null`);
    expect(await stopped()).toEqual([]);

    await press(page, 'Faults and clock', 'link');
    await untilSeen(page, 'No one has stopped marketing.');
    await page.select('section[aria-labelledby=stopped] select', '300000000000002');
    await press(page, 'Stop marketing');
    await untilSeen(page, 'Recipient: say who stops');
    await typeOver(page, 'section[aria-labelledby=stopped] input', other);
    await press(page, 'Stop marketing');
    await untilSeen(page, `+${other}`, 'section[aria-labelledby=stopped]');
    expect(await textOf('section[aria-labelledby=stopped] h3')).toBe('+54 9 11 0000-0002 · Boreal Clinics');
    expect(await textOf('section[aria-labelledby=stopped] ul')).not.toContain('refused');
    // The chosen number shows no messages of the other number.
    await press(page, 'Inbox', 'link');
    await untilSeen(page, '1 stopped marketing');
    expect(await page.$$eval('.row-stopped', (found) => found.length)).toBe(0);
    await press(page, '1 stopped marketing', 'link');
    await press(page, `Resume ${other}`);
    await untilSeen(page, 'No one has stopped marketing.');
    expect(await stopped()).toEqual([]);
  });

  test('stops that cannot be read are reported as that, and not as no stops', async () => {
    const { page, problems } = tab();
    await simulator().control('POST', `recipients/${recipient}/preference`, {
      phone_number_id: firstNumber,
      value: 'stop',
    });
    await untilSeen(page, '1 stopped marketing');
    await page.setRequestInterception(true);
    page.on('request', (request) =>
      request.url().endsWith('/_control/overview') ? request.abort() : request.continue(),
    );
    await page.reload();
    await untilSeen(page, 'Who has stopped could not be read');
    await press(page, 'Faults and clock', 'link');
    await untilSeen(page, 'The simulator does not answer.');
    expect(await textOf('main')).not.toContain('No one has stopped');
    expect(problems.splice(0).filter((problem) => !problem.includes('net::ERR_FAILED'))).toEqual([]);
  });

  test('a reply names the message that it answers, or none; a tap brings back what was put behind the button', async () => {
    const { page } = tab();
    const [body, { cards: same, type }] = validSends.city_tour.components;
    const cards = same.map(({ card_index, components: [header, text, , link] }) => {
      const payload = { type: 'payload', payload: `more of ${card_index}` };
      return { card_index, components: [header, text, button('quick_reply', 0, payload), link] };
    });
    await simulator().send(recipient, {
      template: { name: 'city_tour', language: { code: 'en_US' }, components: [body, { type, cards }] },
    });
    const receiver = await callbackReceiver();
    await simulator().control('POST', 'apps/500000000000001', { callback_url: receiver.url });
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await typeOver(page, 'aria/Reply[role="textbox"]', 'Thanks');
    await press(page, 'Reply');
    await untilSeen(page, 'Thanks', '.chat');
    await press(page, 'as an answer to this message', 'checkbox');
    await page.keyboard.press('Space');
    await typeOver(page, 'aria/Reply[role="textbox"]', 'STOP');
    await press(page, 'Reply');
    await untilSeen(page, 'STOP', '.chat');
    await page.focus('.card:last-child button');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.querySelectorAll('.bubble.mine').length === 3`);
    const said = () =>
      receiver.calls
        .flatMap(({ bytes }) => JSON.parse(bytes.toString()).entry)
        .flatMap(({ changes }) => changes.flatMap(({ value }: { value: Said }) => value.messages ?? []))
        .map(({ context, text, button: tapped }) => [text ?? tapped, context !== undefined]);
    await expect.poll(said).toEqual([
      [{ body: 'Thanks' }, true],
      [{ body: 'STOP' }, false],
      [{ text: 'More like this', payload: 'more of 1' }, true],
    ]);
    await simulator().control('POST', 'apps/500000000000001', { callback_url: null });
    await receiver.stop();
  });
});
