import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { useCopy } from './parts.tsx';
import { KnownThings } from './phone-context.ts';
import { ProductPicture } from './phone-media.tsx';
import { type ButtonView, purposeOf, shownButtons } from './phone-view.ts';

/* At most three buttons are below a message; a sheet over the chat has the rest. */

interface ButtonsProps {
  readonly buttons: readonly ButtonView[];
  /** Buttons that answer do nothing when this is absent. */
  readonly onTap: ((place: number) => void) | undefined;
}

export function Buttons({ buttons, onTap }: ButtonsProps) {
  const [sheet, setSheet] = useState<'options' | 'items' | undefined>();
  const opener = useRef<HTMLElement | null>(null);
  const { shown, others } = shownButtons(buttons);
  const open = (which: 'options' | 'items') => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    setSheet(which);
  };
  const close = (isLeft = false) => {
    setSheet(undefined);
    if (!isLeft) opener.current?.focus();
  };
  const buttonAt = (button: ButtonView, at: number) => (
    <li key={String(at)}>
      <PhoneButton
        button={button}
        onTap={onTap && (() => onTap(at))}
        onItems={button.sections === undefined ? undefined : () => open('items')}
      />
    </li>
  );
  // A tap in the sheet answers the message and closes the sheet.
  const inSheet = (button: ButtonView, at: number) => (
    <li key={String(at)}>
      <PhoneButton
        button={button}
        onTap={
          onTap &&
          (() => {
            close();
            onTap(at);
          })
        }
      />
    </li>
  );
  const sections = buttons.find((button) => button.sections !== undefined)?.sections ?? [];
  return (
    <>
      <ul class="bubble-buttons" aria-label="Buttons">
        {shown.map(buttonAt)}
        {others === 0 ? null : (
          <li>
            <button
              type="button"
              class="phone-button"
              aria-haspopup="dialog"
              aria-expanded={sheet === 'options'}
              onClick={({ currentTarget }) => {
                currentTarget.focus();
                open('options');
              }}
            >
              <Icon name="list" />
              <span>See all options</span>
            </button>
          </li>
        )}
      </ul>
      {sheet === 'options' ? (
        <Sheet title="All options" onClose={close}>
          <ul class="sheet-buttons">{buttons.map(inSheet)}</ul>
        </Sheet>
      ) : null}
      {sheet === 'items' ? (
        <Sheet title="Items" onClose={close}>
          {sections.map(({ title, products }, at) => (
            <section key={String(at)} class="sheet-items">
              <h3 dir="auto">{title}</h3>
              <ul>
                {products.map((id, place) => (
                  <Item key={String(place)} id={id} />
                ))}
              </ul>
            </section>
          ))}
        </Sheet>
      ) : null}
    </>
  );
}

function Item({ id }: { readonly id: string }) {
  const { name, price } = useContext(KnownThings).products[id] ?? {};
  return (
    <li class="tile">
      <ProductPicture id={id} />
      <div>
        <p class="media-name">{name || id}</p>
        <p class="media-note">{price}</p>
      </div>
    </li>
  );
}

interface SheetProps {
  readonly title: string;
  /** The focus has moved elsewhere already when `isLeft`. */
  readonly onClose: (isLeft?: boolean) => void;
  readonly children: ComponentChildren;
}

/** Draws a sheet over the chat. Escape or a focus outside closes it. */
function Sheet({ title, onClose, children }: SheetProps) {
  const sheet = useRef<HTMLDivElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  // The focus moves before painting, so that an early move of the focus still closes the sheet.
  useLayoutEffect(() => first.current?.focus(), []);
  return (
    <div
      ref={sheet}
      class="sheet"
      role="dialog"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !sheet.current?.contains(relatedTarget)) onClose(true);
      }}
    >
      <button type="button" class="sheet-back" tabIndex={-1} aria-label="Back to the chat" onClick={() => onClose()} />
      <div class="sheet-panel">
        <p class="sheet-top">
          <strong>{title}</strong>
          <button ref={first} type="button" class="sheet-close" aria-label="Close" onClick={() => onClose()}>
            <Icon name="close" />
          </button>
        </p>
        {children}
      </div>
    </div>
  );
}

const signs: Readonly<Record<string, string>> = {
  url: 'link',
  quick_reply: 'reply',
  phone_number: 'phone_number',
  voice_call: 'phone_number',
  copy_code: 'copy',
  otp: 'copy',
  flow: 'form',
};

interface PhoneButtonProps {
  readonly button: ButtonView;
  readonly onTap?: (() => void) | undefined;
  /** Shows the products behind it. */
  readonly onItems?: (() => void) | undefined;
}

/** Shows only the label; the purpose is its title. */
function PhoneButton({ button, onTap, onItems }: PhoneButtonProps) {
  const purpose = purposeOf(button);
  const inside = (
    <>
      <Icon name={signs[button.kind] ?? 'list'} />
      <span dir="auto">{button.text}</span>
    </>
  );
  // A template may hold any address, and only web addresses are opened.
  if (button.kind === 'url' && /^https?:\/\//i.test(button.value)) {
    return (
      <a class="phone-button" href={button.value} target="_blank" rel="noopener noreferrer" title={purpose}>
        {inside}
      </a>
    );
  }
  if ((button.kind === 'copy_code' || button.kind === 'otp') && button.value !== '') {
    return <CodeButton button={button} purpose={purpose} />;
  }
  const act = onItems ?? (button.kind === 'quick_reply' || button.kind === 'flow' ? onTap : undefined);
  if (act === undefined) {
    return (
      <span class="phone-button still" title={purpose}>
        {inside}
      </span>
    );
  }
  const press = (event: Event) => {
    if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
    act();
  };
  return (
    <button type="button" class="phone-button" title={purpose} onClick={press}>
      {inside}
    </button>
  );
}

function CodeButton({ button, purpose }: { readonly button: ButtonView; readonly purpose: string }) {
  const { said, copy } = useCopy(button.value);
  return (
    <button type="button" class="phone-button" title={purpose} onClick={() => void copy()}>
      <Icon name="copy" />
      <span dir="auto" aria-live="polite">
        {said || button.text}
      </span>
    </button>
  );
}
