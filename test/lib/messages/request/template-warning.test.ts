import { expect, test } from 'vitest';
import { templateWarning } from '../../../../lib/messages/request/template-warning.ts';
import { body, header, makeTemplate, sendable } from '../../../support/platform-templates.ts';

test.each(Object.entries(sendable))('%s can be sent: no warning, in review neither', (_, template) => {
  expect(templateWarning(template)).toEqual({});
  expect(templateWarning({ ...template, status: 'PENDING' })).toEqual({});
});

test('a template that can never be sent is told with the sentence of the refusal', () => {
  expect(templateWarning(makeTemplate([header('GIF'), body('x')]))).toEqual({
    'template-warning': 'templates with a header of format GIF cannot be sent through this interface',
  });
});

test('the header has visible ASCII and an end, whatever the platform calls a kind', () => {
  const warning = templateWarning(makeTemplate([body('x'), { type: `É\r\nSet-Cookie: a${'x'.repeat(500)}` }]));
  expect(warning['template-warning']).toMatch(/^templates with a component of type \?\?\?Set-Cookie: ax{200,}$/);
  expect(warning['template-warning']).toHaveLength(300);
});

test('what is no template is none that cannot be sent', () => {
  expect(templateWarning({ components: 7 })).toEqual({});
});
