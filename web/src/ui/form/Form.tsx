import type { ComponentProps, FormEvent } from 'react'

type Props = Omit<ComponentProps<'form'>, 'onSubmit'> & {
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
}

/**
 * A form that is sent by its own buttons alone. React passes the submit event of a dialog on to the
 * form that the dialog was opened from, although the dialog is not inside it on the page.
 */
export function Form({ onSubmit, ...props }: Props) {
  return (
    <form
      {...props}
      onSubmit={(event) => {
        event.preventDefault()
        if (event.target === event.currentTarget) onSubmit(event)
      }}
    />
  )
}
