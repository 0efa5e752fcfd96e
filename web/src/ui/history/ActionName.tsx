import { actionText } from './actionText'
import './history.css'

/** An action of the audit log in words, with its code next to it. */
export function ActionName({ code }: { code: string }) {
  const text = actionText(code)
  return (
    <>
      {text ? <b>{text}</b> : null} <code className="action-code">{code}</code>
    </>
  )
}
