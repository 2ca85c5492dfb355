import type { Hold } from './holds.ts';
import type { World } from './state.ts';
import { type PhoneNumber, portfolioIdOf, type Waba } from './wabas.ts';

/** The status of a number gives its health (platform reference, 8); any other status is BLOCKED. */
const sendingHealth: Readonly<Record<string, string>> = {
  CONNECTED: 'AVAILABLE',
  FLAGGED: 'AVAILABLE',
  RATE_LIMITED: 'LIMITED',
  RESTRICTED: 'LIMITED',
};

/** Health has its own codes (platform reference, 8). Where no source names one, it uses the refusal's. */
const healthCodes = new Map<unknown, number>([
  [131042, 141006],
  [133010, 141000],
]);

interface Entity {
  readonly entity_type: 'PHONE_NUMBER' | 'WABA' | 'BUSINESS';
  readonly id: string;
  readonly can_send_message: string;
  readonly errors?: readonly object[];
}

export function wabaHealth(world: World, waba: Waba) {
  return healthOf(wabaEntities(world, waba));
}

/** Returns the `health_status` of a number: its own health and that of its WABA. */
export function numberHealth(world: World, number: PhoneNumber) {
  const own = sendingHealth[String(number.fields['status'])] ?? 'BLOCKED';
  const waba = world.wabas.get(number.wabaId);
  return healthOf([
    entityOf({ entity_type: 'PHONE_NUMBER', id: number.id, can_send_message: own }, world.holds.on(number.id)),
    ...(waba === undefined ? [] : wabaEntities(world, waba)),
  ]);
}

/** Returns the WABA, and its portfolio while the portfolio is under review. */
function wabaEntities(world: World, waba: Waba): readonly Entity[] {
  const portfolioId = portfolioIdOf(waba);
  const code = world.pacing.reviewOf(portfolioId);
  const own = wabaEntity(world, waba);
  if (code === undefined) return [own];
  const error = {
    error_code: code,
    error_description: 'The business portfolio is being reviewed.',
    possible_solution: 'Wait for the review, or appeal against it.',
  };
  return [own, { entity_type: 'BUSINESS', id: portfolioId, can_send_message: 'BLOCKED', errors: [error] }];
}

function wabaEntity(world: World, { id, fields }: Waba): Entity {
  const own = fields['health_status'] as { readonly can_send_message?: string } | undefined;
  return entityOf(
    { entity_type: 'WABA', id, can_send_message: own?.can_send_message ?? 'AVAILABLE' },
    world.holds.on(id),
  );
}

/** The whole is as healthy as its worst part. */
function healthOf(entities: readonly Entity[]) {
  return { can_send_message: worst(entities.map((entity) => entity.can_send_message)), entities };
}

function worst(words: readonly string[]): string {
  return ['BLOCKED', 'LIMITED'].find((word) => words.includes(word)) ?? words[0] ?? 'AVAILABLE';
}

/** Only holds with a numeric code count: the others stop no sending that the platform knows of. */
function entityOf(node: Entity, holds: readonly Hold[]): Entity {
  const known = holds.map(({ kind }) => kind).filter(({ code }) => typeof code === 'number');
  const blocking = known.filter(({ category }) => category === undefined);
  const limiting = known.filter(({ category }) => category !== undefined);
  const errors = blocking.map(({ code, details, solution }) => ({
    error_code: healthCodes.get(code) ?? code,
    error_description: details,
    possible_solution: solution,
  }));
  return {
    ...node,
    can_send_message: worst([
      ...blocking.map(() => 'BLOCKED'),
      ...limiting.map(() => 'LIMITED'),
      node.can_send_message,
    ]),
    ...(errors.length === 0 ? {} : { errors }),
    ...(limiting.length === 0 ? {} : { additional_info: limiting.map(({ details }) => details) }),
  };
}
