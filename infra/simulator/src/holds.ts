/** Refuses messages of a WABA or a number, whatever their content (platform reference, 6.4). */
export interface HoldKind {
  /** The refusal has this code, or a name where no message is refused with a code. */
  readonly code: number | typeof noAnswer | typeof noUtilityTemplates;
  readonly of: 'waba' | 'number';
  /** Only messages of this category are refused. */
  readonly category?: string;
  /** The refusal and the health of the node have this text; absent where the platform gives none. */
  readonly details?: string;
  readonly solution?: string;
  /** The hold may have an end, which the platform tells. */
  readonly hasEnd?: true;
  /** The hold may let messages be accepted and fail later. */
  readonly mayBeLater?: true;
}

export const noAnswer = 'no_answer';
/** The WABA may create no UTILITY templates, and its approved ones become MARKETING. */
export const noUtilityTemplates = 'no_utility_templates';

/** The kinds are in order of precedence, widest first: the first hold that concerns a message refuses it. */
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

export interface Hold {
  readonly nodeId: string;
  readonly kind: HoldKind;
  readonly sinceMs: number;
  /** The hold ends by itself at this time. */
  readonly untilMs?: number;
  readonly isLater?: boolean;
  /** The webhook gives the end as text: the platform's pages show both forms. */
  readonly isEndText?: boolean;
}

/** The store calls it when a hold begins and when it ends. */
export type OnHoldChange = (hold: Hold, turn: { readonly atMs: number; readonly isOver: boolean }) => void;

/** Nothing runs in the background: `settle` ends expired holds before each request or webhook. */
export class HoldStore {
  readonly #tell: OnHoldChange;
  #holds: readonly Hold[] = [];

  constructor(tell: OnHoldChange) {
    this.#tell = tell;
  }

  get size(): number {
    return this.#holds.length;
  }

  /** Returns holds in the order of `holdKinds`. */
  on(nodeId: string): readonly Hold[] {
    return this.#holds.filter((hold) => hold.nodeId === nodeId);
  }

  /** Begins a hold, or changes the end of the one in force. */
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

  nextMs(): number | undefined {
    const times = this.#holds.flatMap(({ untilMs }) => untilMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends expired holds, dated at their own end. */
  settle(nowMs: number): void {
    for (const hold of this.#holds) {
      if (hold.untilMs !== undefined && hold.untilMs <= nowMs) this.end(hold, hold.untilMs);
    }
  }
}
