import type { TemplateFields } from './template.ts';

const subjects = [
  ['exam', 'examen', 'exame'],
  ['invoice', 'factura', 'fatura'],
  ['vaccine', 'vacuna', 'vacina'],
  ['consultation', 'consulta', 'consulta'],
  ['prescription', 'receta', 'receita'],
  ['checkup', 'control', 'retorno'],
] as const;

const occasions = [
  {
    name: 'confirmed',
    category: 'UTILITY',
    texts: [
      'Hello {{1}}, your {{subject}} is confirmed for {{2}}.',
      'Hola {{1}}, tu {{subject}} quedó para el {{2}}.',
      'Olá {{1}}, seu {{subject}} está marcado para {{2}}.',
    ],
  },
  {
    name: 'rescheduled',
    category: 'UTILITY',
    texts: [
      'Hello {{1}}, your {{subject}} has moved to {{2}}.',
      'Hola {{1}}, tu {{subject}} pasa al {{2}}.',
      'Olá {{1}}, seu {{subject}} mudou para {{2}}.',
    ],
  },
  {
    name: 'ready',
    category: 'UTILITY',
    texts: [
      'Hello {{1}}, your {{subject}} is ready: reference {{2}}.',
      'Hola {{1}}, ya está tu {{subject}}: referencia {{2}}.',
      'Olá {{1}}, já está pronto: {{subject}}, referência {{2}}.',
    ],
  },
  {
    name: 'follow_up',
    category: 'MARKETING',
    texts: [
      'Hello {{1}}, time for your next {{subject}}: book with code {{2}} today.',
      'Hola {{1}}, te toca otra vez: {{subject}} con el código {{2}} hoy.',
      'Olá {{1}}, está na hora: {{subject}} com o código {{2}} hoje.',
    ],
  },
  { name: 'code', category: 'AUTHENTICATION', texts: [] },
] as const;

const languages = ['pt_BR', 'es', 'en_US', 'es_MX'] as const;
const wordsOf = { en_US: 0, es: 1, es_MX: 1, pt_BR: 2 } as const;
const statuses = ['APPROVED', 'APPROVED', 'PENDING', 'APPROVED', 'REJECTED', 'APPROVED', 'PAUSED'] as const;
const rareStatuses = ['DISABLED', 'ARCHIVED', 'IN_APPEAL', 'LIMIT_EXCEEDED'] as const;
const qualities = ['GREEN', 'UNKNOWN', 'GREEN', 'YELLOW', 'RED'] as const;

/**
 * Makes deterministic templates of a clinic: each name in four languages, then names with a number. Statuses and
 * qualities are mixed; all languages of a name share one category.
 */
export function generatedTemplates(wabaId: string, count: number): readonly (TemplateFields & { id: string })[] {
  return Array.from({ length: count }, (_, index) => generatedTemplate(wabaId, index));
}

function generatedTemplate(wabaId: string, index: number): TemplateFields & { id: string } {
  const nameIndex = Math.floor(index / languages.length);
  const subject = at(subjects, nameIndex);
  const occasion = at(occasions, Math.floor(nameIndex / subjects.length));
  const round = Math.floor(nameIndex / (subjects.length * occasions.length));
  const language = at(languages, index);
  const status = index % 17 === 16 ? at(rareStatuses, Math.floor(index / 17)) : at(statuses, index);
  const day = String(1 + (index % 28)).padStart(2, '0');
  return {
    id: String(1_400_000_000_000_000 + Number(wabaId.slice(-3)) * 1_000_000 + index),
    name: `${subject[0]}_${occasion.name}${round === 0 ? '' : `_${round + 1}`}`,
    language,
    status,
    category: occasion.category,
    parameter_format: 'POSITIONAL',
    components: occasion.category === 'AUTHENTICATION' ? codeComponents(index) : textComponents(),
    quality_score: { score: at(qualities, index), date: 1_790_000_000 + index * 3_600 },
    last_updated_time: `2026-10-${day}T12:00:00+0000`,
    ...(status === 'REJECTED' ? { rejected_reason: 'INVALID_FORMAT' } : {}),
  };

  function textComponents(): TemplateFields['components'] {
    const words = wordsOf[language];
    const text = at(occasion.texts, words).replace('{{subject}}', at(subject, words));
    return [
      { type: 'BODY', text, example: { body_text: [['Ana', 'A-1042']] } },
      { type: 'FOOTER', text: 'Boreal Clinics' },
    ];
  }
}

function codeComponents(index: number): TemplateFields['components'] {
  return [
    { type: 'BODY', add_security_recommendation: index % 2 === 0 },
    { type: 'FOOTER', code_expiration_minutes: 10 },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
  ];
}

/** Wraps around at the end of the list. */
function at<const T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('an empty list has no elements');
  return item;
}
