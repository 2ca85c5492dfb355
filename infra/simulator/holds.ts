/** Why messages of a WABA or a number are refused, whatever they say (platform reference, 6.4). */
export interface HoldKind {
  /** The code of the refusal; one that refuses no message with a code has a name. */
  readonly code: number | typeof noAnswer | typeof noUtilityTemplates;
  readonly of: 'waba' | 'number';
  /** Concerns messages of this category alone. */
  readonly category?: string;
  /** As the refusal and the health of the node say it; absent where the platform says nothing. */
  readonly details?: string;
  /** What the health of the node says to do. */
  readonly solution?: string;
  /** The platform tells when it ends. */
  readonly hasEnd?: true;
  /** Messages may be accepted all the same, and fail later. */
  readonly mayBeLater?: true;
}

/** A number whose messages get no answer. */
export const noAnswer = 'no_answer';
/** A WABA that may create no UTILITY templates, and whose approved ones become MARKETING. */
export const noUtilityTemplates = 'no_utility_templates';

/** The widest first: a message that several concern is refused for the first. */
export const holdKinds: readonly HoldKind[] = [
  {
    code: 131042,
    of: 'waba',
    details: 'There was an error related to your payment method.',
    solution: 'Add a payment method, or mend the one that is there.',
    mayBeLater: true,
  },
  {
    code: 131031,
    of: 'waba',
    details: 'The business account has been locked.',
    solution: 'Appeal against the decision.',
    mayBeLater: true,
  },
  {
    code: 368,
    of: 'waba',
    details: 'The business account is restricted for violating a policy.',
    solution: 'Wait until the restriction ends, or appeal against it.',
    hasEnd: true,
  },
  {
    code: 131064,
    of: 'waba',
    category: 'UTILITY',
    details:
      'The account has reached its messaging limit due to template classification violations. This applies to both template messages and direct send messages.',
    solution: 'Review the categories of the utility templates.',
    hasEnd: true,
  },
  {
    code: noUtilityTemplates,
    of: 'waba',
    details: 'The business account may create no utility templates.',
    solution: 'Review the categories of the utility templates.',
    hasEnd: true,
  },
  {
    code: noAnswer,
    of: 'number',
  },
  {
    code: 131037,
    of: 'number',
    details: 'The display name of the phone number has to be approved first.',
    solution: 'Have the display name approved.',
  },
  {
    code: 133010,
    of: 'number',
    details: 'The phone number is not registered.',
    solution: 'Register the phone number.',
  },
  {
    code: 131045,
    of: 'number',
    details: 'The phone number is not registered with a valid certificate.',
    solution: 'Register the phone number.',
  },
  {
    code: 131048,
    of: 'number',
    category: 'MARKETING',
    details: 'There are restrictions on how many messages can be sent from this phone number.',
    solution: 'Send messages that people want.',
  },
];

/** A hold on one node, a WABA or a number. */
export interface Hold {
  readonly nodeId: string;
  readonly kind: HoldKind;
  /** When it began, by the platform's clock. */
  readonly sinceMs: number;
  /** Then it ends by itself. */
  readonly untilMs?: number;
  /** Its messages are accepted, and fail later. */
  readonly isLater?: boolean;
  /** The platform tells the end as text: its pages show both forms. */
  readonly isEndText?: boolean;
}

/** Told when a hold begins and when it ends. */
export type TellHold = (hold: Hold, turn: { readonly atMs: number; readonly isOver: boolean }) => void;

/** The holds in force. Nothing runs in the background: `settle` catches up with the clock before anybody looks. */
export class HoldShelf {
  readonly #tell: TellHold;
  #holds: readonly Hold[] = [];

  constructor(tell: TellHold) {
    this.#tell = tell;
  }

  get size(): number {
    return this.#holds.length;
  }

  /** In the order of `holdKinds`. */
  on(nodeId: string): readonly Hold[] {
    return this.#holds.filter((hold) => hold.nodeId === nodeId);
  }

  /** Begins a hold, or gives the one that is there another end. */
  open(asked: Omit<Hold, 'sinceMs'>, nowMs: number): void {
    const known = this.#holds.find(({ nodeId, kind }) => nodeId === asked.nodeId && kind === asked.kind);
    const hold = { ...asked, sinceMs: known?.sinceMs ?? nowMs };
    const others = this.#holds.filter((each) => each !== known);
    this.#holds = [...others, hold].sort((one, other) => holdKinds.indexOf(one.kind) - holdKinds.indexOf(other.kind));
    this.#tell(hold, { atMs: nowMs, isOver: false });
  }

  end(hold: Hold, atMs: number): void {
    this.#holds = this.#holds.filter((other) => other !== hold);
    this.#tell(hold, { atMs, isOver: true });
  }

  /** When the next one ends by itself. */
  nextMs(): number | undefined {
    const times = this.#holds.flatMap(({ untilMs }) => untilMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends what is over, dated when it was. */
  settle(nowMs: number): void {
    for (const hold of this.#holds) {
      if (hold.untilMs !== undefined && hold.untilMs <= nowMs) this.end(hold, hold.untilMs);
    }
  }
}
