import type { ComponentChildren } from 'preact';
import { now } from './live.ts';
import { statusAt } from './message-status.ts';
import type { InboxRow } from './model.ts';
import { Buttons } from './phone-buttons.tsx';
import { Header, Offer, Tile } from './phone-media.tsx';
import type { ButtonView, PhoneView } from './phone-view.ts';
import { RichText } from './rich-text.tsx';
import { useStore } from './store.ts';
import { phoneTimeOf, wordOf } from './texts.ts';

interface PhoneProps {
  readonly label: string;
  /** Who writes, and what is said below that. */
  readonly name: string;
  readonly note: string;
  /** No message is in the chat: the phone need not be tall. */
  readonly isEmpty?: boolean;
  readonly children: ComponentChildren;
}

/** A phone with a chat. */
export function Phone({ label, name, note, isEmpty = false, children }: PhoneProps) {
  return (
    <section class={isEmpty ? 'phone nothing' : 'phone'} aria-label={label}>
      <div class="phone-top">
        <span class="avatar" aria-hidden="true">
          {[...name][0] ?? '#'}
        </span>
        <p>
          <strong>{name}</strong>
          <small>{note}</small>
        </p>
      </div>
      <div class="chat">{children}</div>
    </section>
  );
}

/** Where a button is: in the message, or in one of its cards; from 0. */
export interface ButtonPlace {
  readonly button: number;
  readonly card?: number;
}

type OnTap = (place: ButtonPlace, button: ButtonView) => void;

interface BubbleProps {
  readonly view: PhoneView;
  /** When it came and how far it is; absent: neither is shown. */
  readonly sent?: Pick<InboxRow, 'told' | 'received_ms'>;
  /** Absent: what would answer the message is shown and does nothing. */
  readonly onTap?: OnTap | undefined;
}

/** One message as the phone shows it. */
export function Bubble({ view, sent, onTap }: BubbleProps) {
  return (
    <div class="message">
      <div class="bubble">
        <BubbleInside view={view} onTap={onTap}>
          {sent === undefined ? null : <TimeAndTicks sent={sent} />}
        </BubbleInside>
      </div>
      {view.cards.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <ul class="carousel" aria-label={`Carousel of ${view.cards.length} cards`} tabIndex={0}>
          {view.cards.map((card, at) => (
            <li key={String(at)} class="bubble card">
              <BubbleInside view={card} onTap={onTap && ((place, button) => onTap({ ...place, card: at }, button))} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface InsideProps extends Pick<BubbleProps, 'view' | 'onTap'> {
  readonly children?: ComponentChildren;
}

function BubbleInside({ view, onTap, children }: InsideProps) {
  const buttons = view.buttons.map((button) => (isCode(button) ? codeButton(button) : button));
  return (
    <>
      {view.tile === undefined ? null : <Tile tile={view.tile} />}
      {view.header === undefined ? null : <Header header={view.header} />}
      {view.offer === undefined ? null : <Offer offer={view.offer} />}
      {view.body === '' ? null : <RichText text={view.body} />}
      {view.footer === '' ? null : (
        <p class="bubble-footer" dir="auto">
          {view.footer}
        </p>
      )}
      {children}
      {buttons.length === 0 ? null : (
        <Buttons
          buttons={buttons}
          onTap={
            onTap &&
            ((at) => {
              const button = buttons[at];
              if (button !== undefined) onTap({ button: at }, button);
            })
          }
        />
      )}
    </>
  );
}

/** What the recipient has written. */
export function OwnBubble({ text, atMs }: { readonly text: string; readonly atMs: number }) {
  return (
    <div class="bubble mine">
      <RichText text={text} />
      <p class="bubble-time">{phoneTimeOf(atMs)}</p>
    </div>
  );
}

function TimeAndTicks({ sent }: { readonly sent: Pick<InboxRow, 'told' | 'received_ms'> }) {
  const { status } = statusAt(sent, useStore(now));
  return (
    <p class="bubble-time">
      {phoneTimeOf(sent.received_ms)} <Ticks status={status} />
    </p>
  );
}

const clock = 'M8 1.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 4v3.300l2 1.200';
const ticks: Readonly<Record<string, string>> = {
  sent: 'M3 7.500l3 3 6-7.500',
  delivered: 'M1 7.500l3 3 6-7.500M7.500 9.500l1 1 6-7.500',
  read: 'M1 7.500l3 3 6-7.500M7.500 9.500l1 1 6-7.500',
  failed: 'M8 1.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 4v3.500M8 9.800v.01',
};

/** How far the business sees its message: sent, delivered, read in blue. */
function Ticks({ status }: { readonly status: string }) {
  return (
    <svg class={`bubble-ticks ${status}`} viewBox="0 0 16 14" role="img" aria-label={wordOf(status)}>
      <path d={ticks[status] ?? clock} />
    </svg>
  );
}

function isCode({ kind, value }: ButtonView): boolean {
  return kind === 'url' && value.includes('/otp/code/');
}

/** A button of a one-time code is sent as an address and shown as what it copies. */
function codeButton(button: ButtonView): ButtonView {
  const code = URL.parse(button.value)?.searchParams.get('code')?.replace(/^otp/, '') ?? '';
  return { ...button, kind: 'otp', value: code };
}
