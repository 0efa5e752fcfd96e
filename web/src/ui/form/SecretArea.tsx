import { ActionIcon, Textarea, type TextareaProps } from '@mantine/core'
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useWords } from '../text'
import './SecretArea.css'

/** A secret of one or more lines, such as a private key. A password field would drop line breaks. */
export function SecretArea(props: TextareaProps) {
  const w = useWords()
  const [isShown, setShown] = useState(false)
  return (
    <Textarea
      {...props}
      autosize
      minRows={1}
      maxRows={8}
      autoComplete="off"
      spellCheck={false}
      classNames={{ input: isShown ? 'mono' : 'mono secret-hidden' }}
      rightSection={
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={isShown ? w.hide : w.show}
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? <EyeOff size={16} /> : <Eye size={16} />}
        </ActionIcon>
      }
    />
  )
}
