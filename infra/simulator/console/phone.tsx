import type { ComponentChildren } from 'preact';
import { Buttons } from './phone-buttons.tsx';
import { Header, Offer, Tile } from './phone-media.tsx';
import type { ButtonView, PhoneView } from './phone-view.ts';
import { RichText } from './rich-text.tsx';
import { phoneTimeOf } from './texts.ts';

interface PhoneProps {
  readonly label: string;
  readonly name: string;
  readonly note: string;
  /** An empty chat makes the phone less tall. */
  readonly isEmpty?: boolean;
  readonly children: ComponentChildren;
}

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

/** Both count from 0. */
export interface ButtonPlace {
  readonly button: number;
  readonly card?: number;
}

type OnTap = (place: ButtonPlace, button: ButtonView) => void;

interface BubbleProps {
  readonly view: PhoneView;
  /** A recipient's phone has no ticks for received messages. */
  readonly atMs?: number;
  /** Buttons that answer do nothing when this is absent. */
  readonly onTap?: OnTap | undefined;
}

export function Bubble({ view, atMs, onTap }: BubbleProps) {
  return (
    <div class="message">
      <div class="bubble">
        <BubbleInside view={view} onTap={onTap}>
          {atMs === undefined ? null : <p class="bubble-time">{phoneTimeOf(atMs)}</p>}
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

export function OwnBubble({ text, atMs }: { readonly text: string; readonly atMs: number }) {
  return (
    <div class="bubble mine">
      <RichText text={text} />
      <p class="bubble-time">{phoneTimeOf(atMs)}</p>
    </div>
  );
}

function isCode({ kind, value }: ButtonView): boolean {
  return kind === 'url' && value.includes('/otp/code/');
}

/** Copies the code: a one-time-code button is sent as an address and shown as a copy button. */
function codeButton(button: ButtonView): ButtonView {
  const code = URL.parse(button.value)?.searchParams.get('code')?.replace(/^otp/, '') ?? '';
  return { ...button, kind: 'otp', value: code };
}
