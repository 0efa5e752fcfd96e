import { Button, FileButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Upload } from 'lucide-react'
import type { Script } from '../../api/queries/automation/script'
import { showError, showSuccess } from '../../ui/toast'
import { uploadFile } from './files'

interface Props {
  /** The file that it becomes a version of; without, a new one. */
  over?: Script
  word: string
  /** The message after it is stored. */
  successText: string
  onStored?: (file: Script) => void
}

/** Takes a file from the reader's machine. */
export function UploadButton({ over, word, successText, onStored }: Props) {
  const client = useQueryClient()
  const upload = useMutation({
    mutationFn: (chosen: File) => uploadFile(chosen, over),
    onSuccess: (stored) => {
      void client.invalidateQueries({ queryKey: ['file'] })
      showSuccess(successText)
      onStored?.(stored)
    },
    onError: showError,
  })
  return (
    <FileButton onChange={(chosen) => chosen && upload.mutate(chosen)}>
      {(props) => (
        <Button
          {...props}
          variant="default"
          leftSection={<Upload size={14} />}
          loading={upload.isPending}
        >
          {word}
        </Button>
      )}
    </FileButton>
  )
}
